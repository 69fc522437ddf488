// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";

/// @title Policy of a permission: the calls an agent may make
/// @notice Stand-in for ZeroDev's CallPolicy 0.0.4 (Kernel module type 5). A call is named by call type, target and
/// selector, and carries a limit of native value and rules on its argument words. Target zero stands for any target.
contract CallPolicy {
    /// @dev The order is part of the wire format.
    enum Condition {
        EQUAL,
        GREATER_THAN,
        LESS_THAN,
        GREATER_THAN_OR_EQUAL,
        LESS_THAN_OR_EQUAL,
        NOT_EQUAL,
        ONE_OF
    }

    /// @dev `offset` counts bytes from the end of the selector; `params` holds one word, or the list of ONE_OF.
    struct Rule {
        Condition condition;
        uint64 offset;
        bytes32[] params;
    }

    struct Permission {
        bytes1 callType;
        address target;
        bytes4 selector;
        uint256 valueLimit;
        Rule[] rules;
    }

    struct Execution {
        address target;
        uint256 value;
        bytes callData;
    }

    enum Status {
        UNKNOWN,
        LIVE,
        REMOVED
    }

    uint256 private constant MODULE_TYPE_POLICY = 5;
    uint256 private constant VALID = 0;
    /// @dev `execute(bytes32 mode, bytes executionCalldata)` of ERC-7579.
    bytes4 private constant EXECUTE = 0xe9ae5c53;
    bytes1 private constant CALL_TYPE_SINGLE = 0x00;
    bytes1 private constant CALL_TYPE_BATCH = 0x01;
    /// @dev Target (20) and value (32), packed, before the call data of a single call.
    uint256 private constant SINGLE_HEADER = 52;

    mapping(bytes32 permissionId => mapping(bytes32 call => mapping(address account => bytes))) private _permissions;
    mapping(bytes32 permissionId => mapping(address account => Status)) public status;
    mapping(address account => uint256 count) public usedIds;

    error PermissionIdUsed(bytes32 permissionId);
    error PermissionNotLive(bytes32 permissionId);
    error DuplicatePermission(address target, bytes4 selector);
    error CallTypeNotAllowed(bytes1 callType);
    error CallNotAllowed(address target, bytes4 selector);
    error ValueAboveLimit(uint256 value, uint256 limit);
    error CallDataTooShort(uint256 rule);
    error RuleViolated(uint256 rule);

    /// @notice Stores the permissions of the calling account: `permissionId (32) ++ abi.encode(Permission[])`.
    /// An id is good once: it cannot be installed again after removal.
    function onInstall(bytes calldata data) external payable {
        bytes32 permissionId = bytes32(data[:32]);
        if (status[permissionId][msg.sender] != Status.UNKNOWN) revert PermissionIdUsed(permissionId);
        Permission[] memory permissions = abi.decode(data[32:], (Permission[]));
        for (uint256 i; i < permissions.length; i++) {
            Permission memory permission = permissions[i];
            bytes32 call = _key(permission.callType, permission.target, permission.selector);
            if (_permissions[permissionId][call][msg.sender].length != 0) {
                revert DuplicatePermission(permission.target, permission.selector);
            }
            _permissions[permissionId][call][msg.sender] = abi.encode(permission.valueLimit, permission.rules);
        }
        status[permissionId][msg.sender] = Status.LIVE;
        usedIds[msg.sender]++;
    }

    function onUninstall(bytes calldata data) external payable {
        bytes32 permissionId = bytes32(data[:32]);
        if (status[permissionId][msg.sender] != Status.LIVE) revert PermissionNotLive(permissionId);
        status[permissionId][msg.sender] = Status.REMOVED;
        usedIds[msg.sender]--;
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_POLICY;
    }

    function isInitialized(address account) external view returns (bool) {
        return usedIds[account] > 0;
    }

    /// @notice Accepts message signatures (ERC-1271), as a published revision of the real policy does. An agent must
    /// therefore be kept from signing messages by the permission's flag, in this world as in the real one.
    function checkSignaturePolicy(bytes32, address, bytes32, bytes calldata) external pure returns (uint256) {
        return VALID;
    }

    /// @notice Reverts unless every call of the operation is allowed. Only ERC-7579 `execute` is.
    function checkUserOpPolicy(bytes32 permissionId, PackedUserOperation calldata operation)
        external
        payable
        returns (uint256)
    {
        if (status[permissionId][msg.sender] != Status.LIVE) revert PermissionNotLive(permissionId);
        bytes calldata callData = operation.callData;
        bytes4 selector = callData.length < 4 ? bytes4(0) : bytes4(callData[:4]);
        if (selector != EXECUTE) revert CallNotAllowed(msg.sender, selector);

        (bytes32 mode, bytes memory execution) = abi.decode(callData[4:], (bytes32, bytes));
        bytes1 callType = bytes1(mode);
        if (callType == CALL_TYPE_BATCH) {
            Execution[] memory executions = abi.decode(execution, (Execution[]));
            for (uint256 i; i < executions.length; i++) _check(permissionId, executions[i]);
        } else if (callType == CALL_TYPE_SINGLE) {
            _check(permissionId, _unpack(execution));
        } else {
            revert CallTypeNotAllowed(callType);
        }
        return VALID;
    }

    function _key(bytes1 callType, address target, bytes4 selector) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(callType, target, selector));
    }

    function _unpack(bytes memory packed) private pure returns (Execution memory execution) {
        // Checked arithmetic: a header that is cut short reverts here.
        bytes memory callData = new bytes(packed.length - SINGLE_HEADER);
        address target;
        uint256 value;
        assembly ("memory-safe") {
            target := shr(96, mload(add(packed, 32)))
            value := mload(add(packed, 52))
            mcopy(add(callData, 32), add(packed, 84), mload(callData))
        }
        execution = Execution(target, value, callData);
    }

    /// @dev A batch is checked call by call against permissions of the single call type.
    function _check(bytes32 permissionId, Execution memory execution) private view {
        bytes memory callData = execution.callData;
        bytes4 selector = callData.length < 4 ? bytes4(0) : bytes4(callData);
        bytes memory stored =
            _permissions[permissionId][_key(CALL_TYPE_SINGLE, execution.target, selector)][msg.sender];
        if (stored.length == 0) {
            stored = _permissions[permissionId][_key(CALL_TYPE_SINGLE, address(0), selector)][msg.sender];
        }
        if (stored.length == 0) revert CallNotAllowed(execution.target, selector);

        (uint256 valueLimit, Rule[] memory rules) = abi.decode(stored, (uint256, Rule[]));
        if (execution.value > valueLimit) revert ValueAboveLimit(execution.value, valueLimit);
        for (uint256 i; i < rules.length; i++) {
            // Selector (4) and the rule's word (32) must lie inside the call data.
            if (callData.length < uint256(rules[i].offset) + 36) revert CallDataTooShort(i);
            if (!_holds(rules[i], _word(callData, rules[i].offset))) revert RuleViolated(i);
        }
    }

    function _word(bytes memory callData, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(callData, add(36, offset)))
        }
    }

    function _holds(Rule memory rule, bytes32 word) private pure returns (bool) {
        if (rule.condition == Condition.ONE_OF) {
            for (uint256 i; i < rule.params.length; i++) {
                if (word == rule.params[i]) return true;
            }
            return false;
        }
        bytes32 param = rule.params[0];
        if (rule.condition == Condition.EQUAL) return word == param;
        if (rule.condition == Condition.GREATER_THAN) return word > param;
        if (rule.condition == Condition.LESS_THAN) return word < param;
        if (rule.condition == Condition.GREATER_THAN_OR_EQUAL) return word >= param;
        if (rule.condition == Condition.LESS_THAN_OR_EQUAL) return word <= param;
        return word != param;
    }
}
