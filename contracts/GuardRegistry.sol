// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the guard of a chain knows: tokens with their prices' sources, venues, bridges, and who may change it
/// @notice RegistryChanges changes it, by the guard's own storage, and answers what is in it; here is what both read.
abstract contract GuardRegistry {
    /// @notice What a token may be used for.
    enum Listing {
        NONE,
        TRADED,
        PAYOUT // traded, and liquidating withdrawals may be paid in it
    }

    /// @notice Who writes the call of a venue.
    enum VenueKind {
        NONE,
        V2_ROUTER, // the guard: a Uniswap v2 router, whatever its pools charge
        CALLDATA // the caller: a router of another kind, an aggregator, an issuer
    }

    /// @notice The call by which a bridge takes a token.
    enum Protocol {
        NONE,
        CCTP, // Circle's TokenMessengerV2
        ACROSS // a SpokePool
    }

    /// @notice A token that may be traded, in one word of storage. Without a feed its price is the attestor's word.
    struct Token {
        address feed;
        /// Seconds after which a price is too old.
        uint24 maxAge;
        /// Largest daily step of an attested price; zero where there is a feed.
        uint16 maxStepBps;
        /// How far the market may be from the price: a feed's deviation threshold, or the movement within an age.
        uint8 bandBps;
        uint8 decimals;
        uint8 priceDecimals;
        /// Which of the feed's aggregators was read when the token was registered.
        uint8 phase;
        bool isBounded;
        /// True when the feed's price is in another currency, which a second feed prices in US dollars.
        bool isComposed;
        Listing listing;
    }

    /// @notice A contract that trades, in one word of storage.
    struct Venue {
        /// Who takes what is sold, by an allowance: the venue itself, or another contract. Zero where the venue is paid
        /// before it is called.
        address spender;
        VenueKind kind;
        /// Most that one trade may lose here, where that is less than the account's own limit; zero for that limit.
        uint16 maxLossBps;
        /// Most that one trade may sell here, in US dollars; zero for no limit.
        uint64 maxUsd;
    }

    /// @notice A way by which one token leaves for one other chain over one bridge, in one word of storage.
    struct Lane {
        Protocol protocol;
        /// Of the token that arrives.
        uint8 decimals;
        /// True where the account has the same address.
        bool isEvm;
        /// Number of the chain in the protocol: a domain of CCTP, a chain id of Across.
        uint64 destination;
        /// Seconds that Across's relayers have, after which the account gets its deposit back.
        uint32 fillTime;
    }

    /// @notice A token as it is registered: with a Chainlink feed, or without one, by the attestor's signed prices.
    struct TokenEntry {
        address token;
        address feed;
        uint24 maxAge;
        /// How far the market may be from the price: of both feeds together, or within the age of an attested one.
        uint8 bandBps;
        /// Where `feed` speaks in another currency, the feed of that in US dollars; else zero.
        address second;
        uint24 secondMaxAge;
        /// Of an attested price: its largest daily step, and what it is held against first (18 decimals, US dollars).
        uint16 maxStepBps;
        uint104 firstPrice;
        bool isPayout;
    }

    /// @notice A venue as it is registered.
    struct VenueEntry {
        address venue;
        address spender;
        VenueKind kind;
        uint16 maxLossBps;
        uint64 maxUsd;
    }

    /// @notice A way over a bridge as it is registered.
    struct BridgeEntry {
        address bridge;
        Protocol protocol;
        address token;
        uint256 chainId;
        /// The same asset there: an address with zeros before it, or a mint of Solana.
        bytes32 remoteToken;
        uint8 remoteDecimals;
        bool isEvm;
        uint64 destination;
        uint32 fillTime;
    }

    /// @notice The feed of the currency in which a token's first feed speaks.
    struct SecondFeed {
        address feed;
        uint24 maxAge;
        uint8 priceDecimals;
        uint8 phase;
        bool isBounded;
    }

    /// @notice Answers at which an aggregator stops following the market.
    struct Bounds {
        uint128 least;
        uint128 most;
    }

    /// @notice What an attested price is held against; with 18 decimals, in US dollars for a whole token.
    struct Anchor {
        /// For the present day: the word with which the day before began.
        uint104 price;
        /// The word with which the present day began.
        uint104 next;
        /// When the present day began.
        uint40 time;
    }

    struct State {
        /// The rollup's sequencer uptime feed; zero on chains without a sequencer.
        address sequencer;
        /// Grows with every change, so that two readings can be told apart.
        uint64 version;
        bool isPaused;
        /// Before it is sealed nothing waits, and no account can be installed.
        bool isSealed;
    }

    /// @notice How long an addition waits, and how long after that it may still be made.
    uint256 public constant DELAY = 2 days;
    uint256 public constant GRACE = 14 days;

    uint256 internal constant PHASE_OFFSET = 64;

    address internal _administrator;
    address internal _guardian;
    address internal _attestor;
    State internal _state;
    mapping(address token => Token) internal _tokens;
    mapping(address token => SecondFeed) internal _secondFeeds;
    /// @notice Of feeds whose aggregator has bounds that a price may meet.
    mapping(address feed => Bounds) internal _bounds;
    mapping(address token => Anchor) internal _anchors;
    mapping(address venue => Venue) internal _venues;
    mapping(bytes32 lane => Lane) internal _lanes;
    /// @notice When a scheduled change may be made, by the keccak256 of its calldata.
    mapping(bytes32 change => uint256 time) internal _scheduled;

    event Scheduled(bytes32 indexed change, bytes call, uint256 time);
    event Cancelled(bytes32 indexed change);
    event TokenRegistered(
        address indexed token,
        address feed,
        address secondFeed,
        uint256 maxAge,
        uint256 bandBps,
        uint256 maxStepBps,
        bool isPayout
    );
    event FeedRead(address indexed feed, uint256 phase, uint256 least, uint256 most);
    event TokenRemoved(address indexed token);
    event VenueRegistered(address indexed venue, address spender, VenueKind kind, uint256 maxLossBps, uint256 maxUsd);
    event VenueRemoved(address indexed venue);
    event BridgeRegistered(
        address indexed bridge,
        Protocol protocol,
        address indexed token,
        uint256 indexed chainId,
        bytes32 remoteToken,
        uint256 remoteDecimals,
        bool isEvm,
        uint256 destination,
        uint256 fillTime
    );
    event BridgeRemoved(address indexed bridge, address indexed token, uint256 indexed chainId, bytes32 remoteToken);
    event KeysChanged(address administrator, address guardian, address attestor);
    event SequencerChanged(address sequencer);
    event PausedChanged(bool isPaused);
    event Sealed();

    error OnlyAdministrator(address caller);
    error OnlyGuardian(address caller);
    error NotScheduled(bytes32 change);
    error NotNow(uint256 from, uint256 until);
    error InvalidEntry(address subject);

    constructor(address administrator_, address guardian_) {
        _administrator = administrator_;
        _guardian = guardian_;
    }

    function laneOf(address bridge, address token, uint256 chainId, bytes32 remoteToken)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(bridge, token, chainId, remoteToken));
    }
}

/// @notice What is read of a Chainlink feed.
interface IFeed {
    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}
