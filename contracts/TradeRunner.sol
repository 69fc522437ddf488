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

    address public immutable GUARD;

    error OnlyGuard(address caller);

    constructor() {
        GUARD = msg.sender;
    }

    /// @notice Lets `venue` spend what came here of `sell`, calls it, and hands everything to the account.
    /// @param held What was here of `sell` before the account's tokens came.
    /// @param buy The token that the call should bring; zero when it brings none.
    /// @return returned What the account got back of `sell`.
    /// @return bought What the account got of `buy`.
    function run(address account, address venue, address sell, uint256 held, address buy, bytes calldata call)
        external
        returns (uint256 returned, uint256 bought)
    {
        if (msg.sender != GUARD) revert OnlyGuard(msg.sender);
        uint256 before = buy == address(0) ? 0 : buy.balanceOf(address(this));
        sell.safeApproveWithRetry(venue, sell.balanceOf(address(this)) - held);
        (bool succeeded, bytes memory answer) = venue.call(call);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        sell.safeApprove(venue, 0);
        returned = _handOver(sell, account, held);
        if (buy != address(0)) bought = _handOver(buy, account, before);
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
