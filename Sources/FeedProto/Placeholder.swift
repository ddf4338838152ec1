enum FeedProtoPlaceholder {}
