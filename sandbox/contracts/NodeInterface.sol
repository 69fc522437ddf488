// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What nodes of Arbitrum answer for at 0xC8, with prices that stand still
/// @notice The interface of Nitro's documentation. The world's nodes take no gas for data.
contract NodeInterface {
    uint256 private constant L1_BASE_FEE = 1 gwei;
    uint256 private constant BASE_FEE = 0.01 gwei;
    /// @dev Gas of Ethereum for a byte of a transaction, and bytes that stand around its data.
    uint256 private constant BYTE_GAS = 16;
    uint256 private constant ENVELOPE = 140;

    function gasEstimateL1Component(address, bool, bytes calldata data)
        external
        payable
        returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)
    {
        return (_gasForL1(data.length), BASE_FEE, L1_BASE_FEE);
    }

    function gasEstimateComponents(address to, bool, bytes calldata data)
        external
        payable
        returns (uint64 gasEstimate, uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)
    {
        uint64 forL1 = _gasForL1(data.length);
        uint256 before = gasleft();
        (bool success,) = to.call{value: msg.value}(data);
        require(success, "execution reverted");
        return (uint64(21_000 + before - gasleft()) + forL1, forL1, BASE_FEE, L1_BASE_FEE);
    }

    function _gasForL1(uint256 length) private pure returns (uint64) {
        return uint64(((length + ENVELOPE) * BYTE_GAS * L1_BASE_FEE) / BASE_FEE / 100);
    }
}
