// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the guard of a chain knows: tokens with their prices' sources, venues, bridges, and who may change it
/// @notice RegistryChanges changes it, by the guard's own storage; here is what both read.
abstract contract GuardRegistry {
    /// @notice What a registered contract is called for.
    enum Venue {
        NONE,
        ROUTER, // a Uniswap v2 router: the guard itself writes the call
        ROUTE, // a provider's contract: the caller brings the calldata
        BRIDGE // IBridge: takes a token here, and owes it to the account elsewhere
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
        bool isListed;
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

    address public administrator;
    address public guardian;
    address public attestor;
    State public state;
    mapping(address token => Token) public tokens;
    mapping(address token => SecondFeed) public secondFeeds;
    /// @notice Of feeds whose aggregator has bounds that a price may meet.
    mapping(address feed => Bounds) public bounds;
    mapping(address token => Anchor) public anchors;
    mapping(address venue => Venue) public venues;
    /// @notice The decimals of what a bridge gives for a token on another chain, plus one; zero where none is listed.
    mapping(bytes32 lane => uint8) public lanes;
    /// @notice When a scheduled change may be made, by the keccak256 of its calldata.
    mapping(bytes32 change => uint256 time) public scheduled;

    event Scheduled(bytes32 indexed change, bytes call, uint256 time);
    event Cancelled(bytes32 indexed change);
    event TokenRegistered(
        address indexed token, address feed, address secondFeed, uint256 maxAge, uint256 bandBps, uint256 maxStepBps
    );
    event FeedRead(address indexed feed, uint256 phase, uint256 least, uint256 most);
    event TokenRemoved(address indexed token);
    event VenueRegistered(address indexed venue, Venue kind);
    event VenueRemoved(address indexed venue);
    event LaneRegistered(address indexed token, uint256 chainId, address remoteToken, uint8 decimals);
    event LaneRemoved(address indexed token, uint256 chainId, address remoteToken);
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
        administrator = administrator_;
        guardian = guardian_;
    }

    function laneOf(address token, uint256 chainId, address remoteToken) public pure returns (bytes32) {
        return keccak256(abi.encode(token, chainId, remoteToken));
    }
}

/// @notice What is read of a Chainlink feed.
interface IFeed {
    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}
