// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the guard of a chain knows: tokens with their prices' sources, venues, bridges, and who may change it
/// @notice Whatever could widen what an agent can do waits for DELAY in public; whatever narrows it happens at once.
/// @dev The administrator is a Safe or a timelock contract in production. The guardian can only narrow.
abstract contract GuardRegistry {
    /// @notice What a registered contract is called for.
    enum Venue {
        NONE,
        ROUTER, // a Uniswap v2 router: the guard itself writes the call
        ROUTE, // a provider's contract: the caller brings the calldata
        BRIDGE // IBridge: takes a token here, and owes it to the account elsewhere
    }

    /// @notice A token that may be traded. Without a feed its price is the attestor's word.
    struct Token {
        address feed;
        /// Seconds after which a price is too old.
        uint32 maxAge;
        /// Largest daily step of an attested price; zero where there is a feed.
        uint16 maxStepBps;
        uint8 decimals;
        uint8 priceDecimals;
        bool isListed;
    }

    /// @notice The last attested price that a day began with; with 18 decimals, in US dollars for a whole token.
    struct Anchor {
        uint128 price;
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

    uint256 private constant LONGEST_FEED_AGE = 3 days;
    uint256 private constant LONGEST_ATTESTED_AGE = 1 hours;
    uint256 private constant LARGEST_STEP_BPS = 1_000;
    uint256 private constant MOST_DECIMALS = 36;
    uint8 internal constant ATTESTED_DECIMALS = 18;

    address public administrator;
    address public guardian;
    address public attestor;
    State public state;
    mapping(address token => Token) public tokens;
    mapping(address token => Anchor) public anchors;
    mapping(address venue => Venue) public venues;
    /// @notice The decimals of what a bridge gives for a token on another chain, plus one; zero where none is listed.
    mapping(bytes32 lane => uint8) public lanes;
    /// @notice When a scheduled change may be made, by the keccak256 of its calldata.
    mapping(bytes32 change => uint256 time) public scheduled;

    event Scheduled(bytes32 indexed change, bytes call, uint256 time);
    event Cancelled(bytes32 indexed change);
    event TokenRegistered(address indexed token, address feed, uint256 maxAge, uint256 maxStepBps);
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

    modifier onlyAdministrator() {
        if (msg.sender != administrator) revert OnlyAdministrator(msg.sender);
        _;
    }

    /// @dev For what narrows: at once, by either key.
    modifier narrowing() {
        if (msg.sender != guardian && msg.sender != administrator) revert OnlyGuardian(msg.sender);
        ++state.version;
        _;
    }

    /// @dev For what may widen: the very call was scheduled DELAY ago. One schedule makes one change.
    modifier delayed() {
        if (msg.sender != administrator) revert OnlyAdministrator(msg.sender);
        if (state.isSealed) {
            bytes32 change = keccak256(msg.data);
            uint256 from = scheduled[change];
            if (from == 0) revert NotScheduled(change);
            if (block.timestamp < from || block.timestamp > from + GRACE) revert NotNow(from, from + GRACE);
            delete scheduled[change];
        }
        ++state.version;
        _;
    }

    constructor(address administrator_, address guardian_) {
        if (administrator_ == address(0)) revert InvalidEntry(administrator_);
        administrator = administrator_;
        guardian = guardian_;
    }

    /// @notice Ends the time in which a new guard is filled without waiting. There is no way back.
    function seal() external onlyAdministrator {
        state.isSealed = true;
        emit Sealed();
    }

    /// @notice Announces a call of one of the delayed functions, by its calldata.
    function schedule(bytes calldata call) external onlyAdministrator {
        bytes32 change = keccak256(call);
        scheduled[change] = block.timestamp + DELAY;
        emit Scheduled(change, call, block.timestamp + DELAY);
    }

    function cancel(bytes32 change) external narrowing {
        delete scheduled[change];
        emit Cancelled(change);
    }

    /// @notice Lists a token, or changes what its price comes from. With a feed, step and first price are zero.
    /// @param firstPrice What an attested token's price is held against first: 18 decimals, US dollars.
    function registerToken(address token, address feed, uint32 maxAge, uint16 maxStepBps, uint128 firstPrice)
        external
        delayed
    {
        bool isFed = feed != address(0);
        bool isStepSane = isFed ? maxStepBps == 0 && firstPrice == 0 : maxStepBps > 0 && firstPrice > 0;
        uint256 longest = isFed ? LONGEST_FEED_AGE : LONGEST_ATTESTED_AGE;
        if (!isStepSane || maxStepBps > LARGEST_STEP_BPS || maxAge == 0 || maxAge > longest) revert InvalidEntry(token);
        if (venues[token] != Venue.NONE) revert InvalidEntry(token);
        uint8 decimals = IDecimals(token).decimals();
        uint8 priceDecimals = isFed ? IDecimals(feed).decimals() : ATTESTED_DECIMALS;
        if (decimals > MOST_DECIMALS || priceDecimals > MOST_DECIMALS) revert InvalidEntry(token);
        tokens[token] = Token(feed, maxAge, maxStepBps, decimals, priceDecimals, true);
        anchors[token] = Anchor(firstPrice, isFed ? 0 : uint40(block.timestamp));
        emit TokenRegistered(token, feed, maxAge, maxStepBps);
    }

    function removeToken(address token) external narrowing {
        delete tokens[token];
        emit TokenRemoved(token);
    }

    /// @notice A venue has code, and is no token: a caller's calldata never reaches a contract that holds balances.
    function registerVenue(address venue, Venue kind) external delayed {
        bool isOwn = venue == address(this) || tokens[venue].isListed;
        if (kind == Venue.NONE || venue.code.length == 0 || isOwn) revert InvalidEntry(venue);
        venues[venue] = kind;
        emit VenueRegistered(venue, kind);
    }

    function removeVenue(address venue) external narrowing {
        delete venues[venue];
        emit VenueRemoved(venue);
    }

    /// @notice Lets `token` leave for another chain as `remoteToken`, which is the same asset there. Chain 0, with the
    /// withdrawal executor as `remoteToken`, stands for owners: liquidating withdrawals may be paid in the token.
    function registerLane(address token, uint256 chainId, address remoteToken, uint8 decimals) external delayed {
        bool isSane = chainId != block.chainid && remoteToken != address(0) && decimals <= MOST_DECIMALS;
        if (!isSane || !tokens[token].isListed) revert InvalidEntry(token);
        lanes[laneOf(token, chainId, remoteToken)] = decimals + 1;
        emit LaneRegistered(token, chainId, remoteToken, decimals);
    }

    function removeLane(address token, uint256 chainId, address remoteToken) external narrowing {
        delete lanes[laneOf(token, chainId, remoteToken)];
        emit LaneRemoved(token, chainId, remoteToken);
    }

    function setKeys(address administrator_, address guardian_, address attestor_) external delayed {
        if (administrator_ == address(0)) revert InvalidEntry(administrator_);
        (administrator, guardian, attestor) = (administrator_, guardian_, attestor_);
        emit KeysChanged(administrator_, guardian_, attestor_);
    }

    /// @notice Ends the attestor's word; tokens without a feed cannot be traded until another one is set.
    function removeAttestor() external narrowing {
        attestor = address(0);
        emit KeysChanged(administrator, guardian, address(0));
    }

    function setSequencer(address sequencer) external delayed {
        state.sequencer = sequencer;
        emit SequencerChanged(sequencer);
    }

    /// @notice Stops every trade and transfer at once. Owners still withdraw: their executor does not ask the guard.
    function pause() external narrowing {
        state.isPaused = true;
        emit PausedChanged(true);
    }

    function unpause() external onlyAdministrator {
        state.isPaused = false;
        ++state.version;
        emit PausedChanged(false);
    }

    function laneOf(address token, uint256 chainId, address remoteToken) public pure returns (bytes32) {
        return keccak256(abi.encode(token, chainId, remoteToken));
    }
}

/// @notice What registration asks of tokens and feeds.
interface IDecimals {
    function decimals() external view returns (uint8);
}
