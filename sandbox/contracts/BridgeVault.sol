// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A bridge between the world's chains: it takes tokens here, and gives tokens for what was taken there
/// @notice The operator carries the news from chain to chain and is trusted to do so truly; each lock is answered once.
contract BridgeVault {
    using SafeERC20 for IERC20;

    struct Lock {
        address recipient;
        address token;
        uint256 amount;
    }

    address public immutable OPERATOR;
    uint256 public count;
    mapping(bytes32 id => Lock) public locks;
    mapping(bytes32 id => bool) public isReleased;
    mapping(bytes32 id => bool) public isRefunded;

    event Locked(
        bytes32 indexed id,
        address indexed sender,
        address token,
        uint256 amount,
        uint256 destinationChainId,
        address destinationToken,
        uint256 minOut,
        address recipient
    );
    event Released(bytes32 indexed id, address indexed recipient, address token, uint256 amount);
    event Refunded(bytes32 indexed id, address indexed recipient, address token, uint256 amount);

    error OnlyOperator(address caller);
    error NothingLocked(bytes32 id);
    error AlreadyAnswered(bytes32 id);
    error InvalidLock();

    modifier onlyOperator() {
        if (msg.sender != OPERATOR) revert OnlyOperator(msg.sender);
        _;
    }

    constructor(address operator) {
        OPERATOR = operator;
    }

    /// @notice Takes `amount` of `token`; at least `minOut` of the destination token is owed to `recipient`.
    function lock(
        address token,
        uint256 amount,
        uint256 destinationChainId,
        address destinationToken,
        uint256 minOut,
        address recipient
    ) external returns (bytes32 id) {
        if (amount == 0 || destinationChainId == block.chainid || recipient == address(0)) revert InvalidLock();
        id = keccak256(abi.encode(block.chainid, address(this), count++, msg.sender));
        locks[id] = Lock(recipient, token, amount);
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        emit Locked(id, msg.sender, token, amount, destinationChainId, destinationToken, minOut, recipient);
    }

    /// @notice Pays out for a lock on another chain, once.
    function release(bytes32 id, address token, uint256 amount, address recipient) external onlyOperator {
        if (isReleased[id]) revert AlreadyAnswered(id);
        isReleased[id] = true;
        IERC20(token).safeTransfer(recipient, amount);
        emit Released(id, recipient, token, amount);
    }

    /// @notice Gives a lock of this chain back, once: to the recipient, whose address is the same on every chain,
    /// because the sender may be a contract that sends for many.
    function refund(bytes32 id) external onlyOperator {
        Lock memory held = locks[id];
        if (held.amount == 0) revert NothingLocked(id);
        if (isRefunded[id]) revert AlreadyAnswered(id);
        isRefunded[id] = true;
        IERC20(held.token).safeTransfer(held.recipient, held.amount);
        emit Refunded(id, held.recipient, held.token, held.amount);
    }
}
