// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerkleProofLib} from "solady-src/src/utils/MerkleProofLib.sol";
import {KeySignature} from "./KeySignature.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";

/// @title Root validator of an account: one owner key, one signature for several chains
/// @notice Stand-in for ZeroDev's multi-chain ECDSA validator (ERC-7579 module type 1). Two signature forms:
/// 65 bytes over the hash itself, or `signature ++ root ++ abi.encode(proof)`, where the owner signed the root of a
/// Merkle tree that has the hash as a leaf.
contract MultiChainOwnerValidator {
    uint256 private constant MODULE_TYPE_VALIDATOR = 1;
    uint256 private constant VALID = 0;
    uint256 private constant INVALID = 1;
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    bytes4 private constant ERC1271_REFUSED = 0xffffffff;

    /// @dev Signature, root, and the two head words of an encoded proof.
    uint256 private constant SHORTEST_MERKLE_SIGNATURE = 65 + 32 + 64;

    /// @dev The placeholder that the client library signs with while it estimates gas: the leaf then travels with the
    /// proof, because the hash is not final yet. The owner check still runs and refuses it.
    bytes32 private constant PLACEHOLDER_SIGNATURE = keccak256(
        hex"fffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c"
    );

    /// @notice Owner of each account. The name is the one ZeroDev's module shows.
    mapping(address account => address owner) public ecdsaValidatorStorage;

    event OwnerRegistered(address indexed kernel, address indexed owner);

    /// @notice Sets the calling account's owner: the first 20 bytes of `data`.
    function onInstall(bytes calldata data) external payable {
        address owner = address(bytes20(data[:20]));
        ecdsaValidatorStorage[msg.sender] = owner;
        emit OwnerRegistered(msg.sender, owner);
    }

    function onUninstall(bytes calldata) external payable {
        delete ecdsaValidatorStorage[msg.sender];
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_VALIDATOR;
    }

    function isInitialized(address account) external view returns (bool) {
        return ecdsaValidatorStorage[account] != address(0);
    }

    function validateUserOp(PackedUserOperation calldata operation, bytes32 operationHash)
        external
        payable
        returns (uint256)
    {
        return _isByOwner(operationHash, operation.signature, true) ? VALID : INVALID;
    }

    function isValidSignatureWithSender(address, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return _isByOwner(hash, signature, false) ? ERC1271_MAGIC : ERC1271_REFUSED;
    }

    function _isByOwner(bytes32 hash, bytes calldata signature, bool mayEstimate) private view returns (bool) {
        address owner = ecdsaValidatorStorage[msg.sender];
        if (signature.length == 65) return KeySignature.isBy(owner, hash, signature);
        if (signature.length < SHORTEST_MERKLE_SIGNATURE) return false;

        bytes32 root = bytes32(signature[65:97]);
        bytes32 leaf = hash;
        bytes32[] memory proof;
        if (mayEstimate && keccak256(signature[:65]) == PLACEHOLDER_SIGNATURE) {
            (leaf, proof) = abi.decode(signature[97:], (bytes32, bytes32[]));
        } else {
            proof = abi.decode(signature[97:], (bytes32[]));
        }
        return MerkleProofLib.verify(proof, root, leaf) && KeySignature.isBy(owner, root, signature[:65]);
    }
}
