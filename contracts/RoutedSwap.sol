// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeTransferLib} from "solady-src/src/utils/SafeTransferLib.sol";

/// @title Swaps over any route of one provider, never for less than the direct venue pays
/// @notice An account hands over what it sells together with a route, which is calldata for the provider's contract.
/// Whatever the route does, the account gets at least what the venue's pools would give it at this moment, or nothing
/// happens. So whoever may swap for the account on the venue gains nothing by choosing a bad route.
/// @dev What a route yields comes here first and is counted here: money that comes to the account from elsewhere during
/// the call, such as a transfer of its own that a bridge delivers, is never taken for it. Nothing stays here: neither
/// tokens nor allowances, so nobody's balance can be spent by another's route.
contract RoutedSwap {
    using SafeTransferLib for address;

    /// @notice What the caller sells and wants. Every field is static, so that a call policy can pin each by its place.
    struct Terms {
        address sell;
        uint256 amount;
        address buy;
        /// The least that the caller accepts; what the venue pays counts if it is more.
        uint256 minOut;
        /// The token between both on the venue's path; zero for the direct pool.
        address hub;
        /// Last second (UNIX time) at which the swap may happen.
        uint256 deadline;
    }

    /// @notice The provider's contract: the only one that is ever called with a route or given an allowance.
    address public immutable TARGET;

    /// @notice The venue's Uniswap v2 router.
    IVenueRouter public immutable ROUTER;

    bool private transient _entered;

    event Swapped(address indexed account, address indexed sell, address indexed buy, uint256 sold, uint256 bought);

    error Reentered();
    error Expired(uint256 deadline, uint256 blockTimestamp);
    error SameToken(address token);
    error NoVenuePrice(address sell, address buy);
    error FeeOnTransfer(address token);
    error TooLittle(uint256 bought, uint256 floor);

    constructor(address target, IVenueRouter router) {
        TARGET = target;
        ROUTER = router;
    }

    /// @notice Sells the caller's tokens over `route`; what was bought, and what was not sold, goes back to the caller.
    /// The caller has approved this contract for the amount. Takes no native value.
    function swap(Terms calldata terms, bytes calldata route) external returns (uint256 bought) {
        if (_entered) revert Reentered();
        _entered = true;
        if (block.timestamp > terms.deadline) revert Expired(terms.deadline, block.timestamp);
        if (terms.sell == terms.buy) revert SameToken(terms.sell);
        uint256 floor = _floor(terms);
        uint256 held = terms.sell.balanceOf(address(this));
        bought = _trade(terms, route, held);
        if (bought < floor) revert TooLittle(bought, floor);
        uint256 left = terms.sell.balanceOf(address(this)) - held;
        _pay(terms.buy, bought, floor);
        if (left > 0) terms.sell.safeTransfer(msg.sender, left);
        emit Swapped(msg.sender, terms.sell, terms.buy, terms.amount - left, bought);
        _entered = false;
    }

    /// @dev What the venue pays, read before the route can touch its pools; a route that leads through them would else
    /// be held against what it left there.
    function _floor(Terms calldata terms) private view returns (uint256 floor) {
        address[] memory path = new address[](terms.hub == address(0) ? 2 : 3);
        path[0] = terms.sell;
        path[1] = terms.hub;
        path[path.length - 1] = terms.buy;
        uint256[] memory amounts = ROUTER.getAmountsOut(terms.amount, path);
        floor = amounts[amounts.length - 1];
        if (floor == 0) revert NoVenuePrice(terms.sell, terms.buy);
        if (floor < terms.minOut) floor = terms.minOut;
    }

    /// @dev Takes the amount, lets the provider's contract spend it, and answers what came of it. `held` is what was
    /// here of the sold token before.
    function _trade(Terms calldata terms, bytes calldata route, uint256 held) private returns (uint256 bought) {
        uint256 before = terms.buy.balanceOf(address(this));
        terms.sell.safeTransferFrom(msg.sender, address(this), terms.amount);
        if (terms.sell.balanceOf(address(this)) != held + terms.amount) revert FeeOnTransfer(terms.sell);
        terms.sell.safeApprove(TARGET, terms.amount);
        (bool succeeded, bytes memory answer) = TARGET.call(route);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        terms.sell.safeApprove(TARGET, 0);
        bought = terms.buy.balanceOf(address(this)) - before;
    }

    /// @dev A token that keeps a fee of this transfer must leave the floor whole too.
    function _pay(address token, uint256 amount, uint256 floor) private {
        uint256 before = token.balanceOf(msg.sender);
        token.safeTransfer(msg.sender, amount);
        uint256 arrived = token.balanceOf(msg.sender) - before;
        if (arrived < floor) revert TooLittle(arrived, floor);
    }
}

/// @notice What a floor needs of a Uniswap v2 router.
interface IVenueRouter {
    function getAmountsOut(uint256 amountIn, address[] calldata path) external view returns (uint256[] memory amounts);
}
