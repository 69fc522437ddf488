// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry, IFeed} from "./GuardRegistry.sol";

/// @title Who changes what the guard of a chain knows, and when
/// @notice Whatever could widen what an agent can do waits for DELAY in public; whatever narrows it happens at once.
/// @dev The guard makes this contract and hands the calls here that it does not know itself, to be made on its own
/// storage (DELEGATECALL); called by itself, it has no administrator and changes nothing. The administrator is a Safe
/// or a timelock contract in production. The guardian can only narrow.
contract RegistryChanges is GuardRegistry {
    uint256 private constant LONGEST_FEED_AGE = 3 days;
    uint256 private constant LONGEST_ATTESTED_AGE = 5 minutes;
    uint256 private constant LARGEST_STEP_BPS = 1_000;
    uint256 private constant MOST_DECIMALS = 36;
    uint8 internal constant ATTESTED_DECIMALS = 18;

    constructor() GuardRegistry(address(0), address(0)) {}

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

    /// @dev For what may widen: the very call was scheduled DELAY ago. One schedule makes one change. Calldata is the
    /// selector and so many words, so that each change has one encoding, and who cancels that cancels the change.
    modifier delayed(uint256 words) {
        if (msg.sender != administrator) revert OnlyAdministrator(msg.sender);
        if (msg.data.length != 4 + 32 * words) revert InvalidEntry(msg.sender);
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

    /// @notice Lists a token by a Chainlink feed, or changes its feed.
    /// @param bandBps How far the market may be from the price, of both feeds together.
    /// @param second Where `feed` speaks in another currency, the feed of that in US dollars; else zero.
    function registerToken(
        address token,
        address feed,
        uint24 maxAge,
        uint8 bandBps,
        address second,
        uint24 secondMaxAge
    ) external delayed(6) {
        bool isComposed = second != address(0);
        if (feed == address(0) || _isWrong(maxAge, LONGEST_FEED_AGE)) revert InvalidEntry(token);
        if (isComposed ? _isWrong(secondMaxAge, LONGEST_FEED_AGE) : secondMaxAge != 0) revert InvalidEntry(token);
        Token memory entry = _entryOf(token, bandBps);
        (entry.feed, entry.maxAge, entry.isComposed) = (feed, maxAge, isComposed);
        (entry.priceDecimals, entry.phase, entry.isBounded) = _readFeed(feed);
        tokens[token] = entry;
        if (isComposed) {
            (uint8 priceDecimals, uint8 phase, bool isBounded) = _readFeed(second);
            secondFeeds[token] = SecondFeed(second, secondMaxAge, priceDecimals, phase, isBounded);
        }
        emit TokenRegistered(token, feed, second, maxAge, bandBps, 0);
    }

    /// @notice Lists a token whose price the attestor signs, or changes how it is held.
    /// @param bandBps How far the market may move within `maxAge`.
    /// @param firstPrice What its price is held against first: 18 decimals, US dollars.
    function registerAttested(address token, uint24 maxAge, uint8 bandBps, uint16 maxStepBps, uint104 firstPrice)
        external
        delayed(5)
    {
        bool isSane = maxStepBps > 0 && maxStepBps <= LARGEST_STEP_BPS && firstPrice > 0;
        if (!isSane || _isWrong(maxAge, LONGEST_ATTESTED_AGE)) revert InvalidEntry(token);
        Token memory entry = _entryOf(token, bandBps);
        (entry.maxAge, entry.maxStepBps, entry.priceDecimals) = (maxAge, maxStepBps, ATTESTED_DECIMALS);
        tokens[token] = entry;
        anchors[token] = Anchor(firstPrice, firstPrice, uint40(block.timestamp));
        emit TokenRegistered(token, address(0), address(0), maxAge, bandBps, maxStepBps);
    }

    /// @notice Reads a token's feeds anew, after Chainlink gave one of them another aggregator. Callable by anyone:
    /// what is read is the feeds' own word.
    function readFeeds(address token) external {
        Token memory entry = tokens[token];
        if (entry.feed == address(0)) revert InvalidEntry(token);
        (, entry.phase, entry.isBounded) = _readFeed(entry.feed);
        tokens[token] = entry;
        if (entry.isComposed) {
            SecondFeed memory second = secondFeeds[token];
            (, second.phase, second.isBounded) = _readFeed(second.feed);
            secondFeeds[token] = second;
        }
        ++state.version;
    }

    function removeToken(address token) external narrowing {
        delete tokens[token];
        emit TokenRemoved(token);
    }

    /// @notice A venue has code, and is no token: a caller's calldata never reaches a contract that holds balances.
    function registerVenue(address venue, Venue kind) external delayed(2) {
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
    function registerLane(address token, uint256 chainId, address remoteToken, uint8 decimals) external delayed(4) {
        bool isSane = chainId != block.chainid && remoteToken != address(0) && decimals <= MOST_DECIMALS;
        if (!isSane || !tokens[token].isListed) revert InvalidEntry(token);
        lanes[laneOf(token, chainId, remoteToken)] = decimals + 1;
        emit LaneRegistered(token, chainId, remoteToken, decimals);
    }

    function removeLane(address token, uint256 chainId, address remoteToken) external narrowing {
        delete lanes[laneOf(token, chainId, remoteToken)];
        emit LaneRemoved(token, chainId, remoteToken);
    }

    function setKeys(address administrator_, address guardian_, address attestor_) external delayed(3) {
        if (administrator_ == address(0)) revert InvalidEntry(administrator_);
        (administrator, guardian, attestor) = (administrator_, guardian_, attestor_);
        emit KeysChanged(administrator_, guardian_, attestor_);
    }

    /// @notice Ends the attestor's word; tokens without a feed cannot be traded until another one is set.
    function removeAttestor() external narrowing {
        attestor = address(0);
        emit KeysChanged(administrator, guardian, address(0));
    }

    function setSequencer(address sequencer) external delayed(1) {
        state.sequencer = sequencer;
        emit SequencerChanged(sequencer);
    }

    /// @notice Stops every trade and transfer at once. Owners still withdraw: their executor does not ask the guard.
    function pause() external narrowing {
        state.isPaused = true;
        emit PausedChanged(true);
    }

    /// @notice Lets trades go on. Waits as whatever widens does: a thief of the administrator's key ends no pause.
    function unpause() external delayed(0) {
        state.isPaused = false;
        emit PausedChanged(false);
    }

    /// @dev The registered share of every entry of a token. A token is no venue.
    function _entryOf(address token, uint8 bandBps) private view returns (Token memory entry) {
        uint8 decimals = IDecimals(token).decimals();
        if (bandBps == 0 || decimals > MOST_DECIMALS || venues[token] != Venue.NONE) revert InvalidEntry(token);
        (entry.bandBps, entry.decimals, entry.isListed) = (bandBps, decimals, true);
    }

    /// @dev A proxy of Chainlink numbers its aggregators in the upper bits of a round. What has no aggregator has no
    /// bounds.
    function _readFeed(address feed) private returns (uint8 decimals, uint8 phase, bool isBounded) {
        decimals = IDecimals(feed).decimals();
        if (decimals > MOST_DECIMALS) revert InvalidEntry(feed);
        (uint80 round,,,,) = IFeed(feed).latestRoundData();
        phase = uint8(round >> PHASE_OFFSET);
        address aggregator = address(uint160(_ask(feed, IAggregators.aggregator.selector, uint160(feed))));
        uint256 least = _ask(aggregator, IAggregators.minAnswer.selector, 0);
        uint256 most = _ask(aggregator, IAggregators.maxAnswer.selector, type(uint128).max);
        if (int256(least) < 0) least = 0;
        if (most > type(uint128).max) most = type(uint128).max;
        if (least > most) revert InvalidEntry(feed);
        isBounded = least > 1 || most < type(uint128).max;
        if (isBounded) bounds[feed] = Bounds(uint128(least), uint128(most));
        emit FeedRead(feed, phase, least, most);
    }

    /// @dev A word that a contract answers; what stands for none when it has no such function.
    function _ask(address target, bytes4 selector, uint256 otherwise) private view returns (uint256) {
        (bool succeeded, bytes memory answer) = target.staticcall(abi.encodePacked(selector));
        return succeeded && answer.length == 32 ? abi.decode(answer, (uint256)) : otherwise;
    }

    function _isWrong(uint256 age, uint256 longest) private pure returns (bool) {
        return age == 0 || age > longest;
    }
}

/// @notice What registration asks of tokens and feeds.
interface IDecimals {
    function decimals() external view returns (uint8);
}

/// @notice What registration asks of a Chainlink feed and of the aggregator behind it, which may have neither.
interface IAggregators {
    function aggregator() external view returns (address);
    function minAnswer() external view returns (int192);
    function maxAnswer() external view returns (int192);
}
