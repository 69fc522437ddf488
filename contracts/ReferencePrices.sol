// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";
import {FixedPointMathLib} from "solady-src/src/utils/FixedPointMathLib.sol";
import {GuardRegistry, IFeed} from "./GuardRegistry.sol";

/// @title What tokens are worth, by nobody's word who gains from a trade
/// @notice A token's price is its Chainlink feed's, or where there is none, one that the attestor signed a moment ago.
/// @dev An attested price stays within a step of the one with which the day before began, and a day begins with the
/// first price that is used a day after the last one did. So whoever has the attestor's key moves a price by that step
/// a day, and not by more in any number of transactions or after any number of idle days.
abstract contract ReferencePrices is GuardRegistry {
    using FixedPointMathLib for uint256;

    /// @notice What the attestor signed (EIP-712): US dollars for a whole token, 18 decimals, at a UNIX time.
    struct SignedPrice {
        uint128 price;
        uint40 time;
        bytes signature;
    }

    /// @dev A price as it is used: `value = amount * answer / 10 ** decimals`, in US dollars of 18 decimals.
    struct Price {
        address token;
        uint256 answer;
        uint256 unit;
        /// How far the market may be from it.
        uint256 bandBps;
        bool isAttested;
    }

    uint256 internal constant BPS = 10_000;
    /// @notice How long nothing is traded after a rollup's sequencer came back: its feeds have to catch up.
    uint256 internal constant SEQUENCER_GRACE = 1 hours;
    uint256 internal constant USD = 1e18;
    /// @dev Keeps `answer * USD` within 256 bits.
    uint256 private constant LARGEST_ANSWER = type(uint128).max;

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant NAME = keccak256("Ballast price attestor");
    bytes32 private constant VERSION = keccak256("1");
    bytes32 private constant PRICE_TYPE = keccak256("Price(address token,uint128 price,uint40 time)");

    error Paused();
    error SequencerDown(int256 answer, uint256 since);
    error TokenNotListed(address token);
    error InvalidPrice(address token, int256 answer);
    error StalePrice(address token, uint256 time);
    error PriceMissing(address token);
    error NotAttested(address token);
    error AggregatorChanged(address token, address feed);
    error StepTooLarge(address token, uint256 price, uint256 anchor);

    /// @notice The digest that the attestor signs for a price on this chain.
    function priceDigest(address token, uint128 price, uint40 time) public view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPE, NAME, VERSION, block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(PRICE_TYPE, token, price, time))));
    }

    /// @dev Refuses while the guard is paused, and while the chain's feeds cannot be relied on.
    function _requireOpen() internal view {
        State memory current = _state;
        if (current.isPaused) revert Paused();
        if (current.sequencer == address(0)) return;
        (, int256 answer, uint256 startedAt,,) = IFeed(current.sequencer).latestRoundData();
        bool isUp = answer == 0 && startedAt != 0 && block.timestamp > startedAt + SEQUENCER_GRACE;
        if (!isUp) revert SequencerDown(answer, startedAt);
    }

    /// @dev `signed` is used by tokens without a feed, in their order; answers how many have been used.
    function _priceOf(address token, SignedPrice[] calldata signed, uint256 used)
        internal
        returns (Price memory price, uint256)
    {
        Token memory listed = _tokens[token];
        if (listed.listing == Listing.NONE) revert TokenNotListed(token);
        price.token = token;
        price.unit = 10 ** (uint256(listed.decimals) + listed.priceDecimals);
        price.bandBps = listed.bandBps;
        if (listed.feed != address(0)) {
            price.answer = _answerOf(token, listed.feed, listed.maxAge, listed.phase, listed.isBounded);
            if (listed.isComposed) price.answer = _inUsd(token, price.answer);
            return (price, used);
        }
        if (used >= signed.length) revert PriceMissing(token);
        price.answer = _attested(token, listed, signed[used]);
        price.isAttested = true;
        return (price, used + 1);
    }

    /// @dev A feed's answer that is whole, recent, of the aggregator that was read, and within what that follows.
    function _answerOf(address token, address feed, uint256 maxAge, uint8 phase, bool isBounded)
        private
        view
        returns (uint256)
    {
        (uint80 round, int256 answer,, uint256 updatedAt, uint80 answeredIn) = IFeed(feed).latestRoundData();
        if (answer <= 0 || uint256(answer) > LARGEST_ANSWER || answeredIn < round) revert InvalidPrice(token, answer);
        if (uint8(round >> PHASE_OFFSET) != phase) revert AggregatorChanged(token, feed);
        if (isBounded) {
            Bounds memory known = _bounds[feed];
            if (uint256(answer) <= known.least || uint256(answer) >= known.most) revert InvalidPrice(token, answer);
        }
        _requireRecent(token, updatedAt, maxAge);
        return uint256(answer);
    }

    /// @dev A price in another currency, times that currency's own.
    function _inUsd(address token, uint256 answer) private view returns (uint256) {
        SecondFeed memory second = _secondFeeds[token];
        uint256 currency = _answerOf(token, second.feed, second.maxAge, second.phase, second.isBounded);
        uint256 product = answer.fullMulDiv(currency, 10 ** uint256(second.priceDecimals));
        if (product == 0 || product > LARGEST_ANSWER) revert InvalidPrice(token, int256(product));
        return product;
    }

    function _attested(address token, Token memory listed, SignedPrice calldata signed) private returns (uint256) {
        _requireRecent(token, signed.time, listed.maxAge);
        bytes32 digest = priceDigest(token, signed.price, signed.time);
        address signer = ECDSA.tryRecoverCalldata(digest, signed.signature);
        if (signer == address(0) || signer != _attestor) revert NotAttested(token);
        Anchor memory anchor = _anchors[token];
        bool isNewDay = block.timestamp - anchor.time >= 1 days;
        if (isNewDay) anchor.price = anchor.next;
        uint256 difference = FixedPointMathLib.dist(signed.price, anchor.price);
        bool isSane = signed.price > 0 && signed.price <= type(uint104).max;
        if (!isSane || difference * BPS > uint256(anchor.price) * listed.maxStepBps) {
            revert StepTooLarge(token, signed.price, anchor.price);
        }
        if (isNewDay) _anchors[token] = Anchor(anchor.price, uint104(signed.price), uint40(block.timestamp));
        return signed.price;
    }

    function _requireRecent(address token, uint256 time, uint256 maxAge) private view {
        if (time > block.timestamp || block.timestamp - time > maxAge) revert StalePrice(token, time);
    }

    /// @dev US dollars of 18 decimals. What an account gives is rounded up, what it has and gets is rounded down.
    function _valueUp(Price memory price, uint256 amount) internal pure returns (uint256) {
        return amount.fullMulDivUp(price.answer * USD, price.unit);
    }

    function _valueDown(Price memory price, uint256 amount) internal pure returns (uint256) {
        return amount.fullMulDiv(price.answer * USD, price.unit);
    }
}
