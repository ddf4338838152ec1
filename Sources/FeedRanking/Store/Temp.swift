extension FeedStore { package func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? { nil } }
