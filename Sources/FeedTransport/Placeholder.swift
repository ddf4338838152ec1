enum FeedTransportPlaceholder {}
