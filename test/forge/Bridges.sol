// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OddToken} from "./OddTokens.sol";

/// @title Across's SpokePool as far as deposits go: it takes tokens, refuses as the real one does, and remembers
/// @dev Reads the words of its calldata, as many arguments as it has are too many for the stack.
contract TestSpokePool {
    bytes4 private constant DEPOSIT = bytes4(
        keccak256(
            "deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
        )
    );

    bytes32[12] private words;
    uint256 public messageLength;

    fallback() external {
        require(msg.sig == DEPOSIT && msg.data.length >= 4 + 13 * 32, "another function");
        for (uint256 i; i < 12; ++i) words[i] = bytes32(msg.data[4 + 32 * i:]);
        messageLength = uint256(bytes32(msg.data[4 + uint256(words[11]):]));
        require(block.timestamp - uint256(words[8]) <= 1 hours, "InvalidQuoteTimestamp");
        require(uint256(words[9]) <= block.timestamp + 6 hours, "InvalidFillDeadline");
        OddToken(address(uint160(uint256(words[2])))).transferFrom(msg.sender, address(this), taken());
    }

    function depositor() external view returns (bytes32) {
        return words[0];
    }

    function recipient() external view returns (bytes32) {
        return words[1];
    }

    function outputToken() external view returns (bytes32) {
        return words[3];
    }

    function taken() public view returns (uint256) {
        return uint256(words[4]);
    }

    function owed() external view returns (uint256) {
        return uint256(words[5]);
    }

    function destinationChainId() external view returns (uint256) {
        return uint256(words[6]);
    }

    function fillDeadline() external view returns (uint256) {
        return uint256(words[9]);
    }

    /// @dev Relayer and parameter.
    function exclusive() external view returns (bytes32) {
        return words[7] | words[10];
    }
}

/// @title Circle's TokenMessengerV2 as far as burns go
contract TestMessenger {
    uint256 public burnt;
    uint256 public maxFee;
    uint32 public domain;
    bytes32 public recipient;
    bytes32 public caller;
    uint32 public threshold;

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee_,
        uint32 minFinalityThreshold
    ) external {
        require(amount > 0, "Amount must be nonzero");
        require(mintRecipient != 0, "Mint recipient must be nonzero");
        require(maxFee_ < amount, "Max fee must be less than amount");
        OddToken(burnToken).transferFrom(msg.sender, address(this), amount);
        (burnt, maxFee, domain) = (amount, maxFee_, destinationDomain);
        (recipient, caller, threshold) = (mintRecipient, destinationCaller, minFinalityThreshold);
    }
}
