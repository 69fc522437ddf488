// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "./GuardRegistry.sol";

/// @title The calls by which tokens are given to bridges
/// @notice Every argument follows from the registry, from what the account gives, and from what arrives: a caller
/// chooses neither recipient nor who may deliver, nor when a deposit comes back.
library BridgeCalls {
    /// @notice What an account gives to a bridge.
    struct Deposit {
        address account;
        bytes32 recipient;
        address token;
        bytes32 remoteToken;
        uint256 amount;
        /// What arrives, in raw units of the remote token.
        uint256 minOut;
    }

    /// @dev Finality thresholds of CCTP: final blocks cost nothing, earlier ones a fee.
    uint32 private constant CONFIRMED = 1_000;
    uint32 private constant FINALIZED = 2_000;

    uint256 private constant ANY_RELAYER = 0;
    uint256 private constant NOT_EXCLUSIVE = 0;
    /// @dev Where the message stands, after twelve words; and its length.
    uint256 private constant MESSAGE_PLACE = 384;
    uint256 private constant NO_MESSAGE = 0;

    error MoreThanSent(uint256 minOut, uint256 amount);

    function encode(GuardRegistry.Lane memory lane, Deposit memory deposit) internal view returns (bytes memory) {
        return lane.protocol == GuardRegistry.Protocol.CCTP ? _burn(lane, deposit) : _spokeDeposit(lane, deposit);
    }

    /// @dev What does not arrive is the most that Circle may keep; anybody may mint.
    function _burn(GuardRegistry.Lane memory lane, Deposit memory deposit) private pure returns (bytes memory) {
        if (deposit.minOut > deposit.amount) revert MoreThanSent(deposit.minOut, deposit.amount);
        uint256 maxFee = deposit.amount - deposit.minOut;
        return abi.encodeCall(
            ITokenMessengerV2.depositForBurn,
            (
                deposit.amount,
                uint32(lane.destination),
                deposit.recipient,
                deposit.token,
                bytes32(0),
                maxFee,
                maxFee == 0 ? FINALIZED : CONFIRMED
            )
        );
    }

    /// @dev The account is the depositor, who gets back what nobody fills in time; any relayer may fill, and no message
    /// goes along.
    function _spokeDeposit(GuardRegistry.Lane memory lane, Deposit memory deposit) private view returns (bytes memory) {
        return bytes.concat(
            ISpokePool.deposit.selector,
            abi.encode(
                uint256(uint160(deposit.account)),
                deposit.recipient,
                uint256(uint160(deposit.token)),
                deposit.remoteToken,
                deposit.amount,
                deposit.minOut
            ),
            abi.encode(
                uint256(lane.destination),
                ANY_RELAYER,
                block.timestamp,
                block.timestamp + lane.fillTime,
                NOT_EXCLUSIVE,
                MESSAGE_PLACE,
                NO_MESSAGE
            )
        );
    }
}

/// @notice What is called of Circle's TokenMessengerV2.
interface ITokenMessengerV2 {
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;
}

/// @notice What is called of Across's SpokePool.
interface ISpokePool {
    function deposit(
        bytes32 depositor,
        bytes32 recipient,
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 destinationChainId,
        bytes32 exclusiveRelayer,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityParameter,
        bytes calldata message
    ) external payable;
}
