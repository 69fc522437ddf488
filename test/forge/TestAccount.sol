// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";

struct Call {
    address target;
    uint256 value;
    bytes data;
}

/// @title An account as Kernel is to the guard: it asks the policy, then reads the calls from calldata and makes them
contract TestAccount {
    struct Reading {
        address target;
        uint256 value;
        bytes data;
    }

    function install(TradeGuard guard, bytes calldata data) external {
        guard.onInstall(data);
    }

    function uninstall(TradeGuard guard, bytes calldata data) external {
        guard.onUninstall(data);
    }

    function ask(TradeGuard guard, bytes32 id, PackedUserOperation calldata operation) external returns (uint256) {
        return guard.checkUserOpPolicy(id, operation);
    }

    /// @dev The owner's own calls, without limits.
    function call(address target, bytes calldata data) external returns (bytes memory) {
        (bool succeeded, bytes memory answer) = target.call(data);
        if (!succeeded) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        return answer;
    }

    /// @dev ERC-7579's `execute`, which here answers what it would call. Calldata is read in place, as Kernel reads it.
    function execute(bytes32 mode, bytes calldata execution) external pure returns (Reading[] memory calls) {
        if (bytes1(mode) == 0x01) {
            Call[] calldata batch;
            assembly ("memory-safe") {
                let pointer := add(execution.offset, calldataload(execution.offset))
                batch.offset := add(pointer, 32)
                batch.length := calldataload(pointer)
            }
            calls = new Reading[](batch.length);
            for (uint256 i; i < batch.length; ++i) {
                calls[i] = Reading(batch[i].target, batch[i].value, batch[i].data);
            }
        } else {
            calls = new Reading[](1);
            calls[0] = Reading(address(bytes20(execution[:20])), uint256(bytes32(execution[20:52])), execution[52:]);
        }
    }
}

/// @title The owners that the guard asks for
contract TestOwners {
    mapping(address account => address owner) public ownerOf;

    function set(address account, address owner) external {
        ownerOf[account] = owner;
    }
}
