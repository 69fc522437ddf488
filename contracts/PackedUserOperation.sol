// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice A user operation as EntryPoint 0.7 hands it to accounts and modules (ERC-4337).
struct PackedUserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}
