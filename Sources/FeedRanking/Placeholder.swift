enum FeedRankingPlaceholder {}
