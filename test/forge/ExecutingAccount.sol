// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {Execution, WithdrawalExecutor} from "../../contracts/WithdrawalExecutor.sol";

/// @title An account as Kernel is to executor, policy and EntryPoint: all operations are validated before any is made
contract ExecutingAccount {
    bytes4 private constant EXECUTE = 0xe9ae5c53;
    bytes32 private constant BATCH = bytes32(uint256(1) << 248);

    address private immutable EXECUTOR;

    constructor(WithdrawalExecutor executor, address owner) {
        EXECUTOR = address(executor);
        executor.onInstall(abi.encodePacked(owner, keccak256("Ballast Withdrawal Authorization")));
    }

    function install(TradeGuard guard, bytes calldata data) external {
        guard.onInstall(data);
    }

    function executeFromExecutor(bytes32, bytes calldata data) external returns (bytes[] memory answers) {
        require(msg.sender == EXECUTOR, "executor");
        Execution[] memory calls = abi.decode(data, (Execution[]));
        answers = new bytes[](calls.length);
        for (uint256 i; i < calls.length; ++i) answers[i] = _make(calls[i]);
    }

    function handle(TradeGuard guard, bytes4 permission, Execution[] calldata calls) external {
        _validate(guard, permission, calls);
        _execute(calls);
    }

    /// @dev A bundle with several operations of this account.
    function handleAll(TradeGuard guard, bytes4 permission, Execution[][] calldata operations) external {
        for (uint256 i; i < operations.length; ++i) _validate(guard, permission, operations[i]);
        for (uint256 i; i < operations.length; ++i) _execute(operations[i]);
    }

    function _validate(TradeGuard guard, bytes4 permission, Execution[] calldata calls) private {
        PackedUserOperation memory operation;
        operation.sender = address(this);
        operation.callData = abi.encodeWithSelector(EXECUTE, BATCH, abi.encode(calls));
        guard.checkUserOpPolicy(bytes32(permission), operation);
    }

    function _execute(Execution[] calldata calls) private {
        for (uint256 i; i < calls.length; ++i) _make(calls[i]);
    }

    function _make(Execution memory call) private returns (bytes memory) {
        (bool succeeded, bytes memory answer) = call.target.call(call.callData);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        return answer;
    }
}
