// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry, IFeed} from "./GuardRegistry.sol";

/// @title Who changes what the guard of a chain knows, and when
/// @notice Whatever could widen what an agent can do waits for DELAY in public; whatever narrows it happens at once.
/// @dev The guard makes this contract and hands the calls here that it does not know itself, readings of its registry
/// too, to be made on its own storage (DELEGATECALL); called by itself, it has no administrator and changes nothing.
/// The administrator is a Safe or a timelock contract in production. The guardian can only narrow.
contract RegistryChanges is GuardRegistry {
    uint256 private constant LONGEST_FEED_AGE = 3 days;
    uint256 private constant LONGEST_ATTESTED_AGE = 5 minutes;
    uint256 private constant LARGEST_STEP_BPS = 1_000;
    uint256 private constant MOST_DECIMALS = 36;
    uint8 internal constant ATTESTED_DECIMALS = 18;
    uint256 private constant MOST_LOSS_BPS = 1_000;
    uint256 private constant LONGEST_FILL_TIME = 6 hours;

    constructor() GuardRegistry(address(0), address(0)) {}

    modifier onlyAdministrator() {
        if (msg.sender != _administrator) revert OnlyAdministrator(msg.sender);
        _;
    }

    /// @dev For what narrows: at once, by either key.
    modifier narrowing() {
        if (msg.sender != _guardian && msg.sender != _administrator) revert OnlyGuardian(msg.sender);
        ++_state.version;
        _;
    }

    /// @dev For what may widen: the very call was scheduled DELAY ago. One schedule makes one change. Calldata is the
    /// selector and so many words, so that each change has one encoding, and who cancels that cancels the change.
    modifier delayed(uint256 words) {
        if (msg.sender != _administrator) revert OnlyAdministrator(msg.sender);
        if (msg.data.length != 4 + 32 * words) revert InvalidEntry(msg.sender);
        if (_state.isSealed) {
            bytes32 change = keccak256(msg.data);
            uint256 from = _scheduled[change];
            if (from == 0) revert NotScheduled(change);
            if (block.timestamp < from || block.timestamp > from + GRACE) revert NotNow(from, from + GRACE);
            delete _scheduled[change];
        }
        ++_state.version;
        _;
    }

    /// @notice Ends the time in which a new guard is filled without waiting. There is no way back.
    function seal() external onlyAdministrator {
        _state.isSealed = true;
        emit Sealed();
    }

    /// @notice Announces a call of one of the delayed functions, by its calldata.
    function schedule(bytes calldata call) external onlyAdministrator {
        bytes32 change = keccak256(call);
        _scheduled[change] = block.timestamp + DELAY;
        emit Scheduled(change, call, block.timestamp + DELAY);
    }

    function cancel(bytes32 change) external narrowing {
        delete _scheduled[change];
        emit Cancelled(change);
    }

    /// @notice Lists a token, or changes how it is priced. Without a feed its price is the attestor's word.
    function registerToken(TokenEntry calldata entry) external delayed(9) {
        Token memory token = _tokenOf(entry);
        if (entry.feed == address(0)) _requireAttested(entry, token);
        else _requireFed(entry, token);
        _tokens[entry.token] = token;
        emit TokenRegistered(
            entry.token, entry.feed, entry.second, entry.maxAge, entry.bandBps, entry.maxStepBps, entry.isPayout
        );
    }

    /// @notice Reads a token's feeds anew, after Chainlink gave one of them another aggregator. Callable by anyone:
    /// what is read is the feeds' own word.
    function readFeeds(address token) external {
        Token memory entry = _tokens[token];
        if (entry.feed == address(0)) revert InvalidEntry(token);
        (, entry.phase, entry.isBounded) = _readFeed(entry.feed);
        _tokens[token] = entry;
        if (entry.isComposed) {
            SecondFeed memory second = _secondFeeds[token];
            (, second.phase, second.isBounded) = _readFeed(second.feed);
            _secondFeeds[token] = second;
        }
        ++_state.version;
    }

    function removeToken(address token) external narrowing {
        delete _tokens[token];
        emit TokenRemoved(token);
    }

    /// @notice Lists a venue. It has code, and neither it nor who takes what is sold is a token: a caller's calldata
    /// never reaches a contract that holds balances.
    function registerVenue(VenueEntry calldata entry) external delayed(5) {
        bool isSane = entry.kind == VenueKind.V2_ROUTER ? entry.spender == entry.venue : entry.kind != VenueKind.NONE;
        if (!isSane || entry.maxLossBps > MOST_LOSS_BPS || !_isContract(entry.venue)) revert InvalidEntry(entry.venue);
        if (entry.spender != address(0) && !_isContract(entry.spender)) revert InvalidEntry(entry.spender);
        _venues[entry.venue] = Venue(entry.spender, entry.kind, entry.maxLossBps, entry.maxUsd);
        emit VenueRegistered(entry.venue, entry.spender, entry.kind, entry.maxLossBps, entry.maxUsd);
    }

    function removeVenue(address venue) external narrowing {
        delete _venues[venue];
        emit VenueRemoved(venue);
    }

    /// @notice Lets a token leave for another chain over a bridge, to arrive there as the same asset.
    function registerBridge(BridgeEntry calldata entry) external delayed(9) {
        Token memory token = _tokens[entry.token];
        bool isSane = _isContract(entry.bridge) && token.listing != Listing.NONE && entry.chainId != 0
            && entry.chainId != block.chainid && entry.remoteToken != 0 && entry.remoteDecimals <= MOST_DECIMALS;
        if (!isSane || !_isSpoken(entry, token.decimals)) revert InvalidEntry(entry.bridge);
        if (entry.isEvm && uint256(entry.remoteToken) > type(uint160).max) revert InvalidEntry(entry.bridge);
        _lanes[laneOf(entry.bridge, entry.token, entry.chainId, entry.remoteToken)] =
            Lane(entry.protocol, entry.remoteDecimals, entry.isEvm, entry.destination, entry.fillTime);
        emit BridgeRegistered(
            entry.bridge,
            entry.protocol,
            entry.token,
            entry.chainId,
            entry.remoteToken,
            entry.remoteDecimals,
            entry.isEvm,
            entry.destination,
            entry.fillTime
        );
    }

    function removeBridge(address bridge, address token, uint256 chainId, bytes32 remoteToken) external narrowing {
        delete _lanes[laneOf(bridge, token, chainId, remoteToken)];
        emit BridgeRemoved(bridge, token, chainId, remoteToken);
    }

    function setKeys(address administrator_, address guardian_, address attestor_) external delayed(3) {
        if (administrator_ == address(0)) revert InvalidEntry(administrator_);
        (_administrator, _guardian, _attestor) = (administrator_, guardian_, attestor_);
        emit KeysChanged(administrator_, guardian_, attestor_);
    }

    /// @notice Ends the attestor's word; tokens without a feed cannot be traded until another one is set.
    function removeAttestor() external narrowing {
        _attestor = address(0);
        emit KeysChanged(_administrator, _guardian, address(0));
    }

    function setSequencer(address sequencer) external delayed(1) {
        _state.sequencer = sequencer;
        emit SequencerChanged(sequencer);
    }

    /// @notice Stops every trade and transfer at once. Owners still withdraw: their executor does not ask the guard.
    function pause() external narrowing {
        _state.isPaused = true;
        emit PausedChanged(true);
    }

    /// @notice Lets trades go on. Waits as whatever widens does: a thief of the administrator's key ends no pause.
    function unpause() external delayed(0) {
        _state.isPaused = false;
        emit PausedChanged(false);
    }

    function administrator() external view returns (address) {
        return _administrator;
    }

    function guardian() external view returns (address) {
        return _guardian;
    }

    function attestor() external view returns (address) {
        return _attestor;
    }

    function state() external view returns (State memory) {
        return _state;
    }

    function tokens(address token) external view returns (Token memory) {
        return _tokens[token];
    }

    function secondFeeds(address token) external view returns (SecondFeed memory) {
        return _secondFeeds[token];
    }

    /// @notice Of feeds whose aggregator has bounds that a price may meet.
    function bounds(address feed) external view returns (Bounds memory) {
        return _bounds[feed];
    }

    function anchors(address token) external view returns (Anchor memory) {
        return _anchors[token];
    }

    function venues(address venue) external view returns (Venue memory) {
        return _venues[venue];
    }

    function lanes(bytes32 lane) external view returns (Lane memory) {
        return _lanes[lane];
    }

    /// @notice When a scheduled change may be made, by the keccak256 of its calldata; zero when it is not scheduled.
    function scheduled(bytes32 change) external view returns (uint256) {
        return _scheduled[change];
    }

    /// @dev The registered share of every entry of a token. A token is no venue.
    function _tokenOf(TokenEntry calldata entry) private view returns (Token memory token) {
        uint8 decimals = IDecimals(entry.token).decimals();
        bool isVenue = _venues[entry.token].kind != VenueKind.NONE;
        if (entry.bandBps == 0 || decimals > MOST_DECIMALS || isVenue) revert InvalidEntry(entry.token);
        (token.feed, token.maxAge, token.bandBps, token.decimals) = (entry.feed, entry.maxAge, entry.bandBps, decimals);
        token.listing = entry.isPayout ? Listing.PAYOUT : Listing.TRADED;
    }

    /// @dev Reads the feeds of an entry.
    function _requireFed(TokenEntry calldata entry, Token memory token) private {
        bool isComposed = entry.second != address(0);
        bool isSane = entry.maxStepBps == 0 && entry.firstPrice == 0 && !_isWrong(entry.maxAge, LONGEST_FEED_AGE)
            && (isComposed ? !_isWrong(entry.secondMaxAge, LONGEST_FEED_AGE) : entry.secondMaxAge == 0);
        if (!isSane) revert InvalidEntry(entry.token);
        token.isComposed = isComposed;
        (token.priceDecimals, token.phase, token.isBounded) = _readFeed(entry.feed);
        if (!isComposed) return;
        (uint8 priceDecimals, uint8 phase, bool isBounded) = _readFeed(entry.second);
        _secondFeeds[entry.token] = SecondFeed(entry.second, entry.secondMaxAge, priceDecimals, phase, isBounded);
    }

    /// @dev Sets what the attestor's first price is held against.
    function _requireAttested(TokenEntry calldata entry, Token memory token) private {
        bool isSane = entry.second == address(0) && entry.secondMaxAge == 0 && entry.maxStepBps > 0
            && entry.maxStepBps <= LARGEST_STEP_BPS && entry.firstPrice > 0;
        if (!isSane || _isWrong(entry.maxAge, LONGEST_ATTESTED_AGE)) revert InvalidEntry(entry.token);
        (token.maxStepBps, token.priceDecimals) = (entry.maxStepBps, ATTESTED_DECIMALS);
        _anchors[entry.token] = Anchor(entry.firstPrice, entry.firstPrice, uint40(block.timestamp));
    }

    /// @dev Whether an entry is what its protocol can carry out. CCTP burns and mints the same units.
    function _isSpoken(BridgeEntry calldata entry, uint8 decimals) private pure returns (bool) {
        if (entry.protocol == Protocol.CCTP) {
            return entry.destination <= type(uint32).max && entry.remoteDecimals == decimals && entry.fillTime == 0;
        }
        return entry.protocol == Protocol.ACROSS && entry.destination != 0 && entry.fillTime > 0
            && entry.fillTime <= LONGEST_FILL_TIME;
    }

    function _isContract(address subject) private view returns (bool) {
        return subject.code.length > 0 && subject != address(this) && _tokens[subject].listing == Listing.NONE;
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
        if (isBounded) _bounds[feed] = Bounds(uint128(least), uint128(most));
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
