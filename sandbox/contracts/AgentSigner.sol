// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {KeySignature} from "./KeySignature.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";

/// @title Signer of a permission: one ECDSA key for each (permission, account)
/// @notice Stand-in for ZeroDev's ECDSA signer (Kernel module type 6).
contract AgentSigner {
    uint256 private constant MODULE_TYPE_SIGNER = 6;
    uint256 private constant VALID = 0;
    uint256 private constant INVALID = 1;
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    bytes4 private constant ERC1271_REFUSED = 0xffffffff;

    mapping(bytes32 permissionId => mapping(address account => address key)) public signer;
    mapping(address account => uint256 count) public usedIds;

    error PermissionAlreadyInstalled(bytes32 permissionId);
    error PermissionNotInstalled(bytes32 permissionId);

    /// @notice Sets the key of a permission of the calling account: `permissionId (32) ++ key (20)`.
    function onInstall(bytes calldata data) external payable {
        bytes32 permissionId = bytes32(data[:32]);
        if (signer[permissionId][msg.sender] != address(0)) revert PermissionAlreadyInstalled(permissionId);
        signer[permissionId][msg.sender] = address(bytes20(data[32:52]));
        usedIds[msg.sender]++;
    }

    function onUninstall(bytes calldata data) external payable {
        bytes32 permissionId = bytes32(data[:32]);
        if (signer[permissionId][msg.sender] == address(0)) revert PermissionNotInstalled(permissionId);
        delete signer[permissionId][msg.sender];
        usedIds[msg.sender]--;
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_SIGNER;
    }

    function isInitialized(address account) external view returns (bool) {
        return usedIds[account] > 0;
    }

    function checkUserOpSignature(bytes32 permissionId, PackedUserOperation calldata operation, bytes32 operationHash)
        external
        payable
        returns (uint256)
    {
        return _isByAgent(permissionId, operationHash, operation.signature) ? VALID : INVALID;
    }

    function checkSignature(bytes32 permissionId, address, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return _isByAgent(permissionId, hash, signature) ? ERC1271_MAGIC : ERC1271_REFUSED;
    }

    function _isByAgent(bytes32 permissionId, bytes32 hash, bytes calldata signature) private view returns (bool) {
        return KeySignature.isBy(signer[permissionId][msg.sender], hash, signature);
    }
}
