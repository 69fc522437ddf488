// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OwnerSignature} from "./OwnerSignature.sol";
import {PackedUserOperation} from "./PackedUserOperation.sol";

/// @title Root validator of an account whose owner is a contract
/// @notice ERC-7579 module type 1 for Kernel 0.3.1. The owner signs EIP-712 data that names the account and the chain,
/// `Kernel(bytes32 hash)` in the domain (Kernel, 0.3.1, chain id, account), and rules on the signature itself
/// (ERC-1271).
/// @dev What the owner signs for one account or chain is worth nothing to another. Reading the owner's storage during
/// validation is outside of ERC-7562, so operations go through a bundler that does not insist on it.
contract Erc1271OwnerValidator {
    uint256 private constant MODULE_TYPE_VALIDATOR = 1;
    uint256 private constant VALID = 0;
    uint256 private constant INVALID = 1;
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    bytes4 private constant ERC1271_REFUSED = 0xffffffff;

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant NAME = keccak256("Kernel");
    bytes32 private constant VERSION = keccak256("0.3.1");
    bytes32 private constant WRAPPER_TYPE = keccak256("Kernel(bytes32 hash)");

    /// @notice Owner of each account; zero while the module is not installed.
    mapping(address account => address owner) public ownerOf;

    error AlreadyInstalled(address account);
    error InvalidOwner(address owner);

    /// @notice Sets the calling account's owner: the first 20 bytes of `data`.
    function onInstall(bytes calldata data) external payable {
        if (ownerOf[msg.sender] != address(0)) revert AlreadyInstalled(msg.sender);
        address owner = address(bytes20(data[:20]));
        if (owner == address(0)) revert InvalidOwner(owner);
        ownerOf[msg.sender] = owner;
    }

    function onUninstall(bytes calldata) external payable {
        delete ownerOf[msg.sender];
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_VALIDATOR;
    }

    function isInitialized(address account) external view returns (bool) {
        return ownerOf[account] != address(0);
    }

    /// @notice What the owner of `account` signs to stand by `hash`.
    function digestOf(address account, bytes32 hash) public view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPE, NAME, VERSION, block.chainid, account));
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(WRAPPER_TYPE, hash))));
    }

    function validateUserOp(PackedUserOperation calldata operation, bytes32 operationHash)
        external
        payable
        returns (uint256)
    {
        return _isByOwner(operationHash, operation.signature) ? VALID : INVALID;
    }

    function isValidSignatureWithSender(address, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return _isByOwner(hash, signature) ? ERC1271_MAGIC : ERC1271_REFUSED;
    }

    /// @dev The account is the caller.
    function _isByOwner(bytes32 hash, bytes calldata signature) private view returns (bool) {
        return OwnerSignature.isBy(ownerOf[msg.sender], digestOf(msg.sender, hash), signature);
    }
}
