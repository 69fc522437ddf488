// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title The world's stand-in for LI.FI's diamond: its two functions that swap one ERC-20 token for another
/// @notice Takes the deposit, makes the calls that the swap data names, and hands over what came of them. It lets any
/// contract be called, whereas the real one keeps a list: so it is the worse one to rely on.
contract RouteDiamond {
    using SafeERC20 for IERC20;

    struct SwapData {
        address callTo;
        address approveTo;
        address sendingAssetId;
        address receivingAssetId;
        uint256 fromAmount;
        bytes callData;
        bool requiresDeposit;
    }

    event LiFiGenericSwapCompleted(
        bytes32 indexed transactionId,
        string integrator,
        string referrer,
        address receiver,
        address fromAssetId,
        address toAssetId,
        uint256 fromAmount,
        uint256 toAmount
    );

    error NoSwapDataProvided();
    error CumulativeSlippageTooHigh(uint256 minAmount, uint256 receivedAmount);

    function swapTokensSingleV3ERC20ToERC20(
        bytes32 transactionId,
        string calldata integrator,
        string calldata referrer,
        address payable receiver,
        uint256 minAmountOut,
        SwapData calldata swapData
    ) external {
        uint256 before = _held(swapData.receivingAssetId);
        _swap(swapData, receiver);
        uint256 received = _deliver(swapData.receivingAssetId, before, receiver, minAmountOut);
        emit LiFiGenericSwapCompleted(
            transactionId,
            integrator,
            referrer,
            receiver,
            swapData.sendingAssetId,
            swapData.receivingAssetId,
            swapData.fromAmount,
            received
        );
    }

    function swapTokensMultipleV3ERC20ToERC20(
        bytes32 transactionId,
        string calldata integrator,
        string calldata referrer,
        address payable receiver,
        uint256 minAmountOut,
        SwapData[] calldata swapData
    ) external {
        if (swapData.length == 0) revert NoSwapDataProvided();
        address bought = swapData[swapData.length - 1].receivingAssetId;
        uint256 before = _held(bought);
        for (uint256 i; i < swapData.length; ++i) _swap(swapData[i], receiver);
        uint256 received = _deliver(bought, before, receiver, minAmountOut);
        emit LiFiGenericSwapCompleted(
            transactionId,
            integrator,
            referrer,
            receiver,
            swapData[0].sendingAssetId,
            bought,
            swapData[0].fromAmount,
            received
        );
    }

    /// @dev What a swap does not use of its input goes to the receiver.
    function _swap(SwapData calldata data, address receiver) private {
        IERC20 token = IERC20(data.sendingAssetId);
        if (data.requiresDeposit) token.safeTransferFrom(msg.sender, address(this), data.fromAmount);
        uint256 before = _held(data.sendingAssetId) - data.fromAmount;
        token.forceApprove(data.approveTo, data.fromAmount);
        (bool succeeded, bytes memory answer) = data.callTo.call(data.callData);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        uint256 left = _held(data.sendingAssetId) - before;
        if (left > 0) token.safeTransfer(receiver, left);
    }

    function _deliver(address token, uint256 before, address receiver, uint256 minAmountOut)
        private
        returns (uint256 received)
    {
        received = _held(token) - before;
        if (received < minAmountOut) revert CumulativeSlippageTooHigh(minAmountOut, received);
        IERC20(token).safeTransfer(receiver, received);
    }

    function _held(address token) private view returns (uint256) {
        return IERC20(token).balanceOf(address(this));
    }
}
