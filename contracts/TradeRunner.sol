// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeTransferLib} from "solady-src/src/utils/SafeTransferLib.sol";

/// @title The hands of the guard: it holds what is being sold, calls the venue, and counts what arrives
/// @notice Accounts give allowances to the guard, which calls no venue. This contract calls venues with whatever
/// calldata an agent brings, and nobody ever gives it an allowance. So no calldata can spend what an account holds.
/// @dev What arrives is counted here, not at the account: money of the account's own that comes in from elsewhere
/// during the call is never taken for the venue's. Between two calls neither tokens nor allowances are left.
contract TradeRunner {
    using SafeTransferLib for address;

    /// @notice One call of a venue or a bridge.
    struct Order {
        address account;
        address target;
        /// Who takes what came here of `sell`, by an allowance; zero to pay the target before it is called.
        address spender;
        address sell;
        /// What was here of `sell` before the account's tokens came.
        uint256 held;
        /// The token that the call should bring; zero when it brings none.
        address buy;
    }

    /// @notice A share of what the call brings, paid to somebody else than the account.
    struct Share {
        address recipient;
        uint256 bps;
    }

    address public immutable GUARD;

    uint256 private constant BPS = 10_000;

    error OnlyGuard(address caller);

    constructor() {
        GUARD = msg.sender;
    }

    /// @notice Lets the spender have what came here of `sell`, calls the target, and hands everything to the account
    /// but the shares of what was bought.
    /// @return returned What the account got back of `sell`.
    /// @return bought What the account got of `buy`.
    /// @return paid What was paid for each share.
    function run(Order calldata order, Share[] calldata shares, bytes calldata call)
        external
        returns (uint256 returned, uint256 bought, uint256[] memory paid)
    {
        if (msg.sender != GUARD) revert OnlyGuard(msg.sender);
        uint256 before = order.buy == address(0) ? 0 : order.buy.balanceOf(address(this));
        _call(order, call);
        returned = _handOver(order.sell, order.account, order.held);
        if (order.buy == address(0)) return (returned, 0, paid);
        paid = _pay(order.buy, order.buy.balanceOf(address(this)) - before, shares);
        bought = _handOver(order.buy, order.account, before);
    }

    function _call(Order calldata order, bytes calldata call) private {
        uint256 amount = order.sell.balanceOf(address(this)) - order.held;
        if (order.spender == address(0)) order.sell.safeTransfer(order.target, amount);
        else order.sell.safeApproveWithRetry(order.spender, amount);
        (bool succeeded, bytes memory answer) = order.target.call(call);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        if (order.spender != address(0)) order.sell.safeApprove(order.spender, 0);
    }

    function _pay(address token, uint256 amount, Share[] calldata shares) private returns (uint256[] memory paid) {
        paid = new uint256[](shares.length);
        for (uint256 i; i < shares.length; ++i) {
            paid[i] = amount * shares[i].bps / BPS;
            if (paid[i] > 0) token.safeTransfer(shares[i].recipient, paid[i]);
        }
    }

    /// @dev Everything above `held`; answers what arrived, of which a token may keep a share.
    function _handOver(address token, address account, uint256 held) private returns (uint256) {
        uint256 amount = token.balanceOf(address(this)) - held;
        if (amount == 0) return 0;
        uint256 before = token.balanceOf(account);
        token.safeTransfer(account, amount);
        uint256 arrived = token.balanceOf(account) - before;
        return arrived < amount ? arrived : amount;
    }
}
