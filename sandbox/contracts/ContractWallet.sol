// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";

/// @title A wallet that is a contract (ERC-1271) with one key, which it may exchange
contract ContractWallet {
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    bytes4 private constant ERC1271_REFUSED = 0xffffffff;

    address public signer;

    error OnlySigner(address caller);

    constructor(address firstSigner) {
        signer = firstSigner;
    }

    /// @notice From now on another key signs for the wallet, and what the former one signed is void.
    function replaceSigner(address next) external {
        if (msg.sender != signer) revert OnlySigner(msg.sender);
        signer = next;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return ECDSA.tryRecoverCalldata(hash, signature) == signer && signer != address(0)
            ? ERC1271_MAGIC
            : ERC1271_REFUSED;
    }
}
