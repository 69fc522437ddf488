// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Stands for Across's SpokePool on a chain of the world
/// @notice Takes deposits by the interface, the events and the refusals of Across. Unlike there, the operator is the
/// one relayer and decides what becomes of a deposit; fills are paid out of the pool's own stock; deposits come back
/// without proof and before their deadline; and another token may be paid, as by a route that went wrong half way.
contract SpokePool {
    using SafeERC20 for IERC20;

    /// @notice What a relayer fills.
    struct RelayData {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 exclusiveRelayer;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 originChainId;
        uint256 depositId;
        uint32 fillDeadline;
        uint32 exclusivityDeadline;
        bytes message;
    }

    struct Held {
        address depositor;
        address token;
        uint256 amount;
    }

    uint32 public constant depositQuoteTimeBuffer = 1 hours;
    uint32 public constant fillDeadlineBuffer = 6 hours;

    address public immutable OPERATOR;
    uint256 public numberOfDeposits;
    mapping(uint256 depositId => Held) public held;
    /// @notice Whether a deposit of another chain was paid here.
    mapping(uint256 originChainId => mapping(uint256 depositId => bool)) public isFilled;

    event FundsDeposited(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 indexed destinationChainId,
        uint256 indexed depositId,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 indexed depositor,
        bytes32 recipient,
        bytes32 exclusiveRelayer,
        bytes message
    );
    /// @notice A deposit was paid, in the token that was asked for or in another one.
    event Filled(
        uint256 indexed originChainId, uint256 indexed depositId, address indexed recipient, address token, uint256 amount
    );
    event Refunded(uint256 indexed depositId, address indexed depositor, address token, uint256 amount);

    error OnlyOperator(address caller);
    error NothingHeld(uint256 depositId);
    error RelayFilled();
    error WrongToken();
    error ExpiredFillDeadline();
    error InvalidQuoteTimestamp();
    error InvalidFillDeadline();
    error InvalidExclusiveRelayer();

    modifier onlyOperator() {
        if (msg.sender != OPERATOR) revert OnlyOperator(msg.sender);
        _;
    }

    constructor(address operator) {
        OPERATOR = operator;
    }

    /// @notice Takes `inputAmount` of the caller's, for `outputAmount` to arrive at the recipient on the destination.
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
    ) external payable {
        if (block.timestamp - quoteTimestamp > depositQuoteTimeBuffer) revert InvalidQuoteTimestamp();
        if (fillDeadline > block.timestamp + fillDeadlineBuffer) revert InvalidFillDeadline();
        if (exclusivityParameter > 0 && exclusiveRelayer == 0) revert InvalidExclusiveRelayer();
        if (msg.value != 0 || outputToken == 0) revert WrongToken();
        uint256 depositId = numberOfDeposits++;
        held[depositId] = Held(_addressOf(depositor), _addressOf(inputToken), inputAmount);
        IERC20(_addressOf(inputToken)).safeTransferFrom(msg.sender, address(this), inputAmount);
        emit FundsDeposited(
            inputToken,
            outputToken,
            inputAmount,
            outputAmount,
            destinationChainId,
            depositId,
            quoteTimestamp,
            fillDeadline,
            exclusivityParameter,
            depositor,
            recipient,
            exclusiveRelayer,
            message
        );
    }

    /// @notice Pays a deposit of another chain, once.
    function fillRelay(RelayData calldata relay) external onlyOperator {
        if (block.timestamp > relay.fillDeadline) revert ExpiredFillDeadline();
        _fill(relay, _addressOf(relay.outputToken), relay.outputAmount);
    }

    /// @notice Pays another token instead.
    function fillInstead(RelayData calldata relay, address token, uint256 amount) external onlyOperator {
        _fill(relay, token, amount);
    }

    /// @notice Gives a deposit of this chain back to its depositor, once.
    function refund(uint256 depositId) external onlyOperator {
        Held memory back = held[depositId];
        if (back.amount == 0) revert NothingHeld(depositId);
        delete held[depositId];
        IERC20(back.token).safeTransfer(back.depositor, back.amount);
        emit Refunded(depositId, back.depositor, back.token, back.amount);
    }

    function _fill(RelayData calldata relay, address token, uint256 amount) private {
        if (isFilled[relay.originChainId][relay.depositId]) revert RelayFilled();
        isFilled[relay.originChainId][relay.depositId] = true;
        address recipient = _addressOf(relay.recipient);
        IERC20(token).safeTransfer(recipient, amount);
        emit Filled(relay.originChainId, relay.depositId, recipient, token, amount);
    }

    function _addressOf(bytes32 word) private pure returns (address) {
        return address(uint160(uint256(word)));
    }
}
