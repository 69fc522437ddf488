// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OwnerSignature} from "./OwnerSignature.sol";
import {PackedUserOperation} from "./PackedUserOperation.sol";
import {TradeFees} from "./TradeFees.sol";
import {Execution} from "./WithdrawalExecutor.sol";

/// @title The agent's permission, as fixed rules
/// @notice Policy module (Kernel 0.3.1, type 5) of the agent's permission: the same few calls for every account, until
/// a time that the owner signed. An account has one permission at a time; the owner's next one replaces it, and the
/// owner's word ends it, submitted by anybody.
/// @dev The calls: `approve` of any token for the guard, the guard's trades, `settle` of the withdrawal executor, which
/// demands the owner's own signature, right after the guard's `liquidate` that made its sales, and the removal of
/// another permission from the account. None carries native value. Messages are never signed (ERC-1271).
abstract contract GuardPolicy is TradeFees {
    uint256 private constant MODULE_TYPE_POLICY = 5;
    uint256 private constant REFUSED = 1;
    uint256 private constant PLAIN_DATA = 15;
    uint256 private constant FEE_DATA = 21;
    uint256 private constant RECIPIENT_DATA = 40;
    /// @notice The longest that a permission may hold.
    uint256 internal constant LONGEST_PERMISSION = 366 days;
    /// @notice By how much the clock of whoever writes a permission may be ahead of the chain's.
    uint256 internal constant CLOCK_SKEW = 1 hours;

    /// @dev `execute(bytes32 mode, bytes executionCalldata)` of ERC-7579, for one call or a batch that holds together.
    bytes4 private constant EXECUTE = 0xe9ae5c53;
    bytes32 private constant ONE_CALL = bytes32(0);
    bytes32 private constant BATCH = bytes32(uint256(1) << 248);
    bytes4 private constant APPROVE = 0x095ea7b3;
    /// @dev `settle((string,address,(address,uint256)[],bytes32,uint256),bytes,address,uint256)`.
    bytes4 private constant SETTLE =
        bytes4(keccak256("settle((string,address,(address,uint256)[],bytes32,uint256),bytes,address,uint256)"));

    /// @dev Kernel's `uninstallValidation(bytes21,bytes,bytes)`, and how the id of a permission begins there.
    bytes4 private constant UNINSTALL = bytes4(keccak256("uninstallValidation(bytes21,bytes,bytes)"));
    bytes1 private constant PERMISSION_TYPE = 0x02;

    /// @dev Names no chain and no contract: one signature revokes on every chain.
    bytes32 private constant REVOCATION_DOMAIN =
        keccak256(
            abi.encode(keccak256("EIP712Domain(string name,string version)"), keccak256("Ballast"), keccak256("1"))
        );
    bytes32 private constant REVOCATION_TYPE = keccak256("Revoke(address account,uint40 issuedBefore)");

    /// @notice Knows each account's owner, since the account was made.
    IAccountOwners public immutable WITHDRAWALS;

    /// @notice Root of the tokens that an account may buy (leaves `keccak256(keccak256(abi.encode(token)))`, pairs
    /// sorted); counts while the account's list is closed.
    mapping(address account => bytes32) public closedRoot;

    /// @notice Who receives what an account sends to a chain, where that is not the account at the same address; by the
    /// time at which the permission was issued that names it, so that the next permission begins without any.
    mapping(address account => mapping(uint40 issuedAt => mapping(uint256 chainId => bytes32))) public recipientOn;

    /// @notice Until when what an owner signed for an account is over, by the owner's word; also of accounts that are
    /// not made yet.
    mapping(address account => mapping(address owner => uint40)) public revokedUntil;

    event PermissionInstalled(address indexed account, bytes4 permissionId, uint256 issuedAt, uint256 validUntil);
    event Revoked(address indexed account, address indexed owner, uint256 issuedBefore);
    event PermissionEnded(address indexed account, uint256 issuedBefore);

    error InvalidPermission(uint256 issuedAt, uint256 validUntil);
    error NotTheLatest(uint256 issuedAt, uint256 latest);
    error PermissionNotLive(bytes4 permissionId);
    error CallNotAllowed(address target, bytes4 selector);
    error FeesNotAllowed();
    error NotSignedByOwner(address owner, bytes32 digest);

    constructor(IAccountOwners withdrawals) {
        WITHDRAWALS = withdrawals;
    }

    /// @notice Sets the calling account's permission and limits. What its meters show stays, so a permission that waits
    /// to be installed is no second budget. Only the owner's signature makes an account call this. `data`: permission
    /// id (32 bytes), issuedAt (5), validUntil (5), tradeBps (2), budgetBps (2), which of the rest follows (1); then
    /// what does, in this order: root of the closed list (32), the integrator's fee and the service's, each recipient
    /// (20) and basis points (1), and recipients on other chains, each chain (8) and account (32).
    function onInstall(bytes calldata data) external payable {
        _requireSealed();
        Account memory account = _readTerms(data[32:]);
        account.permissionId = bytes4(data[:4]);
        Account memory before = _accounts[msg.sender];
        uint40 latest = revokedUntil[msg.sender][WITHDRAWALS.ownerOf(msg.sender)];
        if (latest < before.issuedAt) latest = before.issuedAt;
        if (account.issuedAt <= latest) revert NotTheLatest(account.issuedAt, latest);
        (uint256 lost, uint256 turnover) = _metersOf(before);
        (account.lost, account.turnover) = (uint32(lost), uint32(turnover));
        account.chargedAt = uint40(block.timestamp);
        _accounts[msg.sender] = account;
        _keepRest(account, data[32 + PLAIN_DATA:]);
        emit PermissionInstalled(msg.sender, account.permissionId, account.issuedAt, account.validUntil);
    }

    /// @notice Ends the permission if it is the account's present one. What was issued before never comes back.
    function onUninstall(bytes calldata data) external payable {
        Account storage account = _accounts[msg.sender];
        if (account.permissionId == bytes4(data[:4])) _end(msg.sender, account.issuedAt);
    }

    /// @notice Ends every permission that `owner` issued for an account until `issuedBefore`, by that owner's word.
    /// Callable by anyone, also before the account is made. The word of who is not its owner ends nothing.
    function revoke(address account, address owner, uint40 issuedBefore, bytes calldata signature) external {
        if (issuedBefore > block.timestamp + CLOCK_SKEW) revert InvalidPermission(issuedBefore, 0);
        bytes32 digest = revocationDigest(account, issuedBefore);
        if (!OwnerSignature.isBy(owner, digest, signature)) revert NotSignedByOwner(owner, digest);
        uint40 latest = revokedUntil[account][owner];
        bool isOwner = WITHDRAWALS.ownerOf(account) == owner;
        if (isOwner && latest < _accounts[account].issuedAt) latest = _accounts[account].issuedAt;
        if (issuedBefore < latest) revert NotTheLatest(issuedBefore, latest);
        revokedUntil[account][owner] = issuedBefore;
        emit Revoked(account, owner, issuedBefore);
        if (isOwner) _end(account, issuedBefore);
    }

    function revocationDigest(address account, uint40 issuedBefore) public pure returns (bytes32) {
        bytes32 message = keccak256(abi.encode(REVOCATION_TYPE, account, issuedBefore));
        return keccak256(abi.encodePacked(hex"1901", REVOCATION_DOMAIN, message));
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_POLICY;
    }

    function isInitialized(address account) external view returns (bool) {
        return _accounts[account].validUntil != 0;
    }

    function checkSignaturePolicy(bytes32, address, bytes32, bytes calldata) external pure returns (uint256) {
        return REFUSED;
    }

    /// @notice Reverts unless every call of the operation is one of the few; answers until when the permission holds,
    /// in the form of ERC-4337, so that the EntryPoint refuses what is later.
    function checkUserOpPolicy(bytes32 id, PackedUserOperation calldata operation)
        external
        payable
        returns (uint256 validationData)
    {
        Account memory account = _accounts[msg.sender];
        if (account.validUntil == 0 || bytes4(id) != account.permissionId) revert PermissionNotLive(bytes4(id));
        // Whoever submits pays for the gas, or a paymaster does: native money of the account is never a fee.
        if (operation.gasFees != 0 && operation.paymasterAndData.length == 0) revert FeesNotAllowed();
        bytes calldata callData = operation.callData;
        bytes4 selector = callData.length < 4 ? bytes4(0) : bytes4(callData[:4]);
        if (selector != EXECUTE) revert CallNotAllowed(msg.sender, selector);
        // Copies stay inside of the operation's own bytes, so the account reads the same calls as are checked here.
        (bytes32 mode, bytes memory execution) = abi.decode(callData[4:], (bytes32, bytes));
        if (mode == BATCH) {
            Execution[] memory calls = abi.decode(execution, (Execution[]));
            for (uint256 i; i < calls.length; ++i) {
                if (_isLiquidation(calls[i])) {
                    if (i + 1 == calls.length) revert CallNotAllowed(address(this), bytes4(calls[i].callData));
                    _requireSettled(calls[i], calls[i + 1]);
                    ++i;
                } else {
                    _requireAllowed(account.permissionId, calls[i].target, calls[i].value, calls[i].callData);
                }
            }
        } else if (mode == ONE_CALL) {
            (address target, uint256 value, bytes memory data) = _unpack(execution);
            _requireAllowed(account.permissionId, target, value, data);
        } else {
            revert CallNotAllowed(msg.sender, EXECUTE);
        }
        return uint256(account.validUntil) << 160;
    }

    /// @dev True for the guard's own functions that an agent may call.
    function _isTrade(bytes4 selector) internal pure virtual returns (bool);

    function _requireSealed() internal view virtual;

    /// @dev The guard's function that makes the sales of a withdrawal by the owner's word.
    function _liquidate() internal pure virtual returns (bytes4);

    /// @dev Reverts unless a call of `settle` pays what the call of `liquidate` before it was held to.
    function _checkPair(bytes memory liquidation, bytes memory settlement) internal view virtual;

    function _isLiquidation(Execution memory call) private view returns (bool) {
        return call.target == address(this) && call.callData.length >= 4 && bytes4(call.callData) == _liquidate();
    }

    function _requireSettled(Execution memory liquidation, Execution memory settlement) private view {
        bytes memory data = settlement.callData;
        bool isSettlement = settlement.target == address(WITHDRAWALS) && data.length >= 4 && bytes4(data) == SETTLE;
        if (!isSettlement || liquidation.value != 0 || settlement.value != 0) {
            revert CallNotAllowed(settlement.target, data.length < 4 ? bytes4(0) : bytes4(data));
        }
        _checkPair(liquidation.callData, data);
    }

    function _requireAllowed(bytes4 id, address target, uint256 value, bytes memory data) private view {
        bytes4 selector = data.length < 4 ? bytes4(0) : bytes4(data);
        bool isAllowed;
        if (target == address(this)) {
            isAllowed = _isTrade(selector) || selector == this.tighten.selector
                || selector == this.setFees.selector;
        } else if (target != address(WITHDRAWALS) && data.length >= 68) {
            bytes32 first;
            assembly ("memory-safe") {
                first := mload(add(data, 36))
            }
            if (target == msg.sender) {
                isAllowed = selector == UNINSTALL && first[0] == PERMISSION_TYPE && bytes4(first << 8) != id;
            } else {
                isAllowed = selector == APPROVE && data.length == 68 && uint256(first) == uint160(address(this));
            }
        }
        if (!isAllowed || value != 0) revert CallNotAllowed(target, selector);
    }

    /// @dev One call is packed: target (20 bytes), value (32), calldata. What is cut short reverts.
    function _unpack(bytes memory packed) private pure returns (address target, uint256 value, bytes memory data) {
        data = new bytes(packed.length - 52);
        assembly ("memory-safe") {
            target := shr(96, mload(add(packed, 32)))
            value := mload(add(packed, 52))
            mcopy(add(data, 32), add(packed, 84), mload(data))
        }
    }

    /// @dev What an owner signed of time and limits.
    function _readTerms(bytes calldata terms) private view returns (Account memory account) {
        if (terms.length < PLAIN_DATA) revert InvalidPermission(0, 0);
        account.issuedAt = uint40(bytes5(terms[:5]));
        account.validUntil = uint40(bytes5(terms[5:10]));
        account.tradeBps = uint16(bytes2(terms[10:12]));
        account.budgetBps = uint16(bytes2(terms[12:14]));
        account.signed = uint8(terms[14]);
        if (
            account.issuedAt > block.timestamp + CLOCK_SKEW
                || account.validUntil > account.issuedAt + LONGEST_PERMISSION || account.tradeBps > WIDEST_BPS
                || account.budgetBps > WIDEST_BPS
        ) revert InvalidPermission(account.issuedAt, account.validUntil);
    }

    /// @dev Keeps what an owner signed beside time and limits; reverts unless that is all there is.
    function _keepRest(Account memory account, bytes calldata rest) private {
        uint8 signed = account.signed;
        if (signed & CLOSED_LIST != 0) {
            closedRoot[msg.sender] = bytes32(rest[:32]);
            rest = rest[32:];
        }
        uint256 feesBps;
        if (signed & INTEGRATOR_FEE != 0) (rest, feesBps) = _keepFee(integratorFees, rest, feesBps);
        if (signed & SERVICE_FEE != 0) (rest, feesBps) = _keepFee(serviceFees, rest, feesBps);
        if (feesBps > WIDEST_FEES_BPS) revert FeeNotSigned(feesBps, 0);
        if (signed & RECIPIENTS != 0) rest = _keepRecipients(account.issuedAt, rest);
        if (rest.length > 0 || signed > MOST_SIGNED) revert InvalidPermission(account.issuedAt, account.validUntil);
    }

    function _keepFee(mapping(address => Fee) storage fees, bytes calldata rest, uint256 before)
        private
        returns (bytes calldata, uint256)
    {
        Fee memory fee = Fee(address(bytes20(rest[:20])), uint8(rest[20]), uint8(rest[20]));
        if (fee.recipient == address(0) || fee.bps == 0) revert FeeNotSigned(fee.bps, 0);
        fees[msg.sender] = fee;
        return (rest[FEE_DATA:], before + fee.bps);
    }

    function _keepRecipients(uint40 issuedAt, bytes calldata rest) private returns (bytes calldata) {
        for (; rest.length >= RECIPIENT_DATA; rest = rest[RECIPIENT_DATA:]) {
            recipientOn[msg.sender][issuedAt][uint64(bytes8(rest[:8]))] = bytes32(rest[8:RECIPIENT_DATA]);
        }
        return rest;
    }

    function _end(address account, uint40 issuedBefore) private {
        _accounts[account].validUntil = 0;
        _accounts[account].issuedAt = issuedBefore;
        emit PermissionEnded(account, issuedBefore);
    }
}

/// @notice What the guard asks the withdrawal executor.
interface IAccountOwners {
    function ownerOf(address account) external view returns (address owner);
}
