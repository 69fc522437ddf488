// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";
import {FixedPointMathLib} from "solady-src/src/utils/FixedPointMathLib.sol";
import {GuardRegistry} from "./GuardRegistry.sol";

/// @title What tokens are worth, by nobody's word who gains from a trade
/// @notice A token's price is its Chainlink feed's, or where there is none, one that the attestor signed a moment ago.
/// @dev An attested price stays within a step of the price with which its day began. So whoever has the attestor's key
/// moves a price by that step a day, and not by more in any number of transactions.
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
        bool isAttested;
    }

    uint256 internal constant BPS = 10_000;
    /// @notice How long nothing is traded after a rollup's sequencer came back: its feeds have to catch up.
    uint256 internal constant SEQUENCER_GRACE = 1 hours;
    /// @dev A step is allowed for each day since the anchor, up to as many.
    uint256 private constant MOST_STEPS = 5;
    uint256 private constant USD = 1e18;
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
    error StepTooLarge(address token, uint256 price, uint256 anchor);

    /// @notice The digest that the attestor signs for a price on this chain.
    function priceDigest(address token, uint128 price, uint40 time) public view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPE, NAME, VERSION, block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(PRICE_TYPE, token, price, time))));
    }

    /// @dev Refuses while the guard is paused, and while the chain's feeds cannot be relied on.
    function _requireOpen() internal view {
        State memory current = state;
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
        Token memory listed = tokens[token];
        if (!listed.isListed) revert TokenNotListed(token);
        price.token = token;
        price.unit = 10 ** (uint256(listed.decimals) + listed.priceDecimals);
        if (listed.feed != address(0)) {
            price.answer = _fed(token, listed);
            return (price, used);
        }
        if (used >= signed.length) revert PriceMissing(token);
        price.answer = _attested(token, listed, signed[used]);
        price.isAttested = true;
        return (price, used + 1);
    }

    function _fed(address token, Token memory listed) private view returns (uint256) {
        (, int256 answer,, uint256 updatedAt,) = IFeed(listed.feed).latestRoundData();
        if (answer <= 0 || uint256(answer) > LARGEST_ANSWER) revert InvalidPrice(token, answer);
        _requireRecent(token, updatedAt, listed.maxAge);
        return uint256(answer);
    }

    function _attested(address token, Token memory listed, SignedPrice calldata signed) private returns (uint256) {
        _requireRecent(token, signed.time, listed.maxAge);
        bytes32 digest = priceDigest(token, signed.price, signed.time);
        address signer = ECDSA.tryRecoverCalldata(digest, signed.signature);
        if (signer == address(0) || signer != attestor) revert NotAttested(token);
        Anchor memory anchor = anchors[token];
        uint256 day = (block.timestamp - anchor.time) / 1 days;
        uint256 steps = FixedPointMathLib.min(day + 1, MOST_STEPS);
        uint256 difference = FixedPointMathLib.dist(signed.price, anchor.price);
        if (signed.price == 0 || difference * BPS > uint256(anchor.price) * listed.maxStepBps * steps) {
            revert StepTooLarge(token, signed.price, anchor.price);
        }
        if (day > 0) anchors[token] = Anchor(signed.price, uint40(block.timestamp));
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

/// @notice What is read of a Chainlink feed.
interface IFeed {
    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}
