// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";

/// @title Signatures of one externally owned key
/// @notice A key may sign a 32-byte hash as it is, or as an EIP-191 personal message; wallets do the second.
library KeySignature {
    /// @notice True when `signature` over `hash`, in either form, is by `key`. The zero address never signs.
    function isBy(address key, bytes32 hash, bytes calldata signature) internal view returns (bool) {
        if (key == address(0)) return false;
        return key == ECDSA.tryRecoverCalldata(hash, signature)
            || key == ECDSA.tryRecoverCalldata(ECDSA.toEthSignedMessageHash(hash), signature);
    }
}
