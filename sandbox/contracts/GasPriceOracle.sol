// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The OP stack's predeploy that says what a transaction costs beside its gas, with prices that stand still
/// @notice The interface and the formulas of Fjord and Jovian (OP stack specifications), of a chain whose fees are
/// those of a calm day, and whose operator charges what a test sets, by default nothing. The world's nodes charge
/// nothing of both.
contract GasPriceOracle {
    uint256 public constant l1BaseFee = 1 gwei;
    uint256 public constant blobBaseFee = 0.1 gwei;
    uint32 public constant baseFeeScalar = 2_269;
    uint32 public constant blobBaseFeeScalar = 1_055_762;
    bool public constant isEcotone = true;
    bool public constant isFjord = true;
    bool public constant isIsthmus = true;
    bool public constant isJovian = true;

    /// In the first slot, as the chain's own contract of block attributes has them.
    uint32 private operatorFeeScalar;
    uint64 private operatorFeeConstant;

    int256 private constant INTERCEPT = -42_585_600;
    uint256 private constant COEFFICIENT = 836_500;
    uint256 private constant LEAST_SIZE = 100e6;

    function decimals() external pure returns (uint256) {
        return 6;
    }

    /// Of an unsigned transaction. Data is not compressed here, so it is the bound.
    function getL1Fee(bytes memory data) external pure returns (uint256) {
        return _fee(data.length + 68);
    }

    /// Of any transaction of so many bytes without its signature.
    function getL1FeeUpperBound(uint256 unsignedTxSize) external pure returns (uint256) {
        uint256 size = unsignedTxSize + 68;
        return _fee(size + size / 255 + 16);
    }

    /// Of a transaction that uses so much gas.
    function getOperatorFee(uint256 gasUsed) external view returns (uint256) {
        return gasUsed * operatorFeeScalar * 100 + operatorFeeConstant;
    }

    function _fee(uint256 compressedSize) private pure returns (uint256) {
        int256 estimated = INTERCEPT + int256(COEFFICIENT * compressedSize);
        uint256 size = estimated < int256(LEAST_SIZE) ? LEAST_SIZE : uint256(estimated);
        uint256 scaled = uint256(baseFeeScalar) * 16 * l1BaseFee + uint256(blobBaseFeeScalar) * blobBaseFee;
        return (size * scaled) / 1e12;
    }
}
