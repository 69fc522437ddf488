// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";
import {SignatureCheckerLib} from "solady-src/src/utils/SignatureCheckerLib.sol";

/// @title Signatures of an owner that is a key or a contract
library OwnerSignature {
    /// @notice True when `owner` stands by `signature` over `hash`: it is the key that made it, or a contract that says
    /// so (ERC-1271). The zero address never signs.
    /// @dev The key is tried first, because an externally owned account may carry delegated code (EIP-7702) and still
    /// sign as itself. The short form of EIP-2098 is not taken for a key's signature. Signatures are malleable: callers
    /// must bind what they accept to a nonce.
    function isBy(address owner, bytes32 hash, bytes calldata signature) internal view returns (bool) {
        if (owner == address(0)) return false;
        if (signature.length == 65 && ECDSA.tryRecoverCalldata(hash, signature) == owner) return true;
        return SignatureCheckerLib.isValidERC1271SignatureNowCalldata(owner, hash, signature);
    }
}
