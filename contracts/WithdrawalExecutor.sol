// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LibString} from "solady-src/src/utils/LibString.sol";
import {OwnerSignature} from "./OwnerSignature.sol";

/// @title Withdrawals from an account, each by the word of its owner alone
/// @notice ERC-7579 executor (module type 2) that an account installs when it is made. Anybody may submit what the
/// owner signed, nobody can submit anything else: neither the agent that trades for the account nor whoever pays for
/// gas.
/// @dev The EIP-712 message shows the owner CAIP identifiers. They are rebuilt here from the addresses that are acted
/// on and from this chain's id, so what moves is what was shown.
contract WithdrawalExecutor {
    /// @notice Raw units of an ERC-20 token.
    struct Asset {
        address token;
        uint256 amount;
    }

    /// @notice What the owner signed. `expiresAt` is the last second (UNIX time) at which it holds.
    struct Authorization {
        string portfolioId;
        address recipient;
        Asset[] assets;
        bytes32 nonce;
        uint256 expiresAt;
    }

    uint256 private constant MODULE_TYPE_EXECUTOR = 2;
    uint256 private constant INSTALL_DATA_LENGTH = 52;

    /// @dev ERC-7579 mode: call type "batch", everything reverts when one call does.
    bytes32 private constant BATCH = bytes32(uint256(1) << 248);

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant VERSION_PLAIN = keccak256("1");
    bytes32 private constant VERSION_LIQUIDATING = keccak256("2");
    bytes32 private constant ASSET_TYPE = keccak256("WithdrawalAsset(string assetId,string amountRaw)");
    bytes32 private constant PLAIN_TYPE = keccak256(
        "Withdrawal(string portfolioId,string recipientAccountId,WithdrawalAsset[] assets,bytes32 nonce,uint256 expiresAt)WithdrawalAsset(string assetId,string amountRaw)"
    );
    bytes32 private constant LIQUIDATING_TYPE = keccak256(
        "Withdrawal(string portfolioId,string recipientAccountId,WithdrawalAsset[] assets,bytes32 nonce,uint256 expiresAt,bool liquidate)WithdrawalAsset(string assetId,string amountRaw)"
    );

    /// @notice Who may withdraw from an account: a key or a contract (ERC-1271). Zero while the module is not
    /// installed.
    mapping(address account => address owner) public ownerOf;

    /// @notice keccak256 of the EIP-712 domain name that the account's owner is shown.
    mapping(address account => bytes32 nameHash) public nameHashOf;

    /// @notice Nonces of authorizations that were carried out. They stay used when the module is removed.
    mapping(address account => mapping(bytes32 nonce => bool used)) public isUsed;

    event Withdrawn(address indexed account, bytes32 indexed nonce, bytes32 digest);

    error AlreadyInstalled(address account);
    error NotInstalled(address account);
    error InvalidInstallData(uint256 length);
    error InvalidOwner(address owner);
    error InvalidRecipient(address recipient);
    error NoAssets();
    error Expired(uint256 expiresAt, uint256 blockTimestamp);
    error NonceUsed(bytes32 nonce);
    error NotSignedByOwner(address owner, bytes32 digest);
    error TransferFailed(address token);
    error NothingToSettle(address token, uint256 balance, uint256 keep);

    /// @notice Binds the calling account to its owner: `owner (20 bytes) ++ keccak256 of the domain name (32 bytes)`.
    function onInstall(bytes calldata data) external payable {
        if (ownerOf[msg.sender] != address(0)) revert AlreadyInstalled(msg.sender);
        if (data.length != INSTALL_DATA_LENGTH) revert InvalidInstallData(data.length);
        address owner = address(bytes20(data[:20]));
        if (owner == address(0)) revert InvalidOwner(owner);
        ownerOf[msg.sender] = owner;
        nameHashOf[msg.sender] = bytes32(data[20:]);
    }

    function onUninstall(bytes calldata) external payable {
        delete ownerOf[msg.sender];
        delete nameHashOf[msg.sender];
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_EXECUTOR;
    }

    function isInitialized(address account) external view returns (bool) {
        return ownerOf[account] != address(0);
    }

    /// @notice The EIP-712 digest that the owner of `account` signs on this chain.
    function digestOf(address account, Authorization calldata authorization, bool liquidate)
        public
        view
        returns (bytes32)
    {
        string memory chain = string.concat("eip155:", LibString.toString(block.chainid));
        bytes32 portfolio = keccak256(bytes(authorization.portfolioId));
        bytes32 recipient = _hashId(chain, ":", authorization.recipient);
        bytes32 assets = _hashAssets(chain, authorization.assets);
        bytes32 message = liquidate
            ? keccak256(
                abi.encode(
                    LIQUIDATING_TYPE,
                    portfolio,
                    recipient,
                    assets,
                    authorization.nonce,
                    authorization.expiresAt,
                    true
                )
            )
            : keccak256(
                abi.encode(PLAIN_TYPE, portfolio, recipient, assets, authorization.nonce, authorization.expiresAt)
            );
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE,
                nameHashOf[account],
                liquidate ? VERSION_LIQUIDATING : VERSION_PLAIN,
                block.chainid,
                account
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, message));
    }

    /// @notice Sends the authorized amounts from `account` to the recipient: all of them, or nothing. Callable by
    /// anyone. A token that takes a fee delivers less than it is asked to.
    function withdraw(address account, Authorization calldata authorization, bytes calldata signature) external {
        _consume(account, authorization, signature, false);
        uint256 count = authorization.assets.length;
        Execution[] memory transfers = new Execution[](count);
        for (uint256 i; i < count; ++i) {
            Asset calldata asset = authorization.assets[i];
            transfers[i] = _transfer(asset.token, authorization.recipient, asset.amount);
        }
        _execute(account, transfers);
    }

    /// @notice Ends a withdrawal that sells the assets first: sends the calling account's balance of `settlementToken`,
    /// less `keep` raw units that it had before, to the recipient. Only an account can call it for itself, as the last
    /// call of the user operation in which its agent made the sales.
    /// @dev Token and `keep` are the agent's word; recipient, time and single use are the owner's.
    function settle(
        Authorization calldata authorization,
        bytes calldata signature,
        address settlementToken,
        uint256 keep
    ) external {
        _consume(msg.sender, authorization, signature, true);
        uint256 balance = IERC20Balance(settlementToken).balanceOf(msg.sender);
        if (balance <= keep) revert NothingToSettle(settlementToken, balance, keep);
        Execution[] memory transfers = new Execution[](1);
        transfers[0] = _transfer(settlementToken, authorization.recipient, balance - keep);
        _execute(msg.sender, transfers);
    }

    /// @dev Checks everything that the owner decides and uses the nonce up, before any call that could enter again; the
    /// owner's own check is a static call. Whatever reverts later gives the nonce back.
    function _consume(
        address account,
        Authorization calldata authorization,
        bytes calldata signature,
        bool liquidate
    ) private {
        address owner = ownerOf[account];
        if (owner == address(0)) revert NotInstalled(account);
        if (block.timestamp > authorization.expiresAt) revert Expired(authorization.expiresAt, block.timestamp);
        if (isUsed[account][authorization.nonce]) revert NonceUsed(authorization.nonce);
        if (authorization.recipient == address(0) || authorization.recipient == account) {
            revert InvalidRecipient(authorization.recipient);
        }
        if (authorization.assets.length == 0) revert NoAssets();
        bytes32 digest = digestOf(account, authorization, liquidate);
        if (!OwnerSignature.isBy(owner, digest, signature)) revert NotSignedByOwner(owner, digest);
        isUsed[account][authorization.nonce] = true;
        emit Withdrawn(account, authorization.nonce, digest);
    }

    /// @dev Tokens answer a transfer with true, or with nothing at all; an address without code answers nothing too.
    function _execute(address account, Execution[] memory transfers) private {
        bytes[] memory answers = IExecutingAccount(account).executeFromExecutor(BATCH, abi.encode(transfers));
        if (answers.length != transfers.length) revert TransferFailed(account);
        for (uint256 i; i < transfers.length; ++i) {
            address token = transfers[i].target;
            bool succeeded = answers[i].length == 0
                ? token.code.length > 0
                : answers[i].length >= 32 && abi.decode(answers[i], (uint256)) == 1;
            if (!succeeded) revert TransferFailed(token);
        }
    }

    function _transfer(address token, address recipient, uint256 amount) private pure returns (Execution memory) {
        return Execution(token, 0, abi.encodeWithSignature("transfer(address,uint256)", recipient, amount));
    }

    /// @dev EIP-712: the hashes of an array's members, concatenated and hashed.
    function _hashAssets(string memory chain, Asset[] calldata assets) private pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](assets.length);
        for (uint256 i; i < assets.length; ++i) {
            hashes[i] = keccak256(
                abi.encode(
                    ASSET_TYPE,
                    _hashId(chain, "/erc20:", assets[i].token),
                    keccak256(bytes(LibString.toString(assets[i].amount)))
                )
            );
        }
        return keccak256(abi.encodePacked(hashes));
    }

    /// @dev Hash of a CAIP-10 account or a CAIP-19 asset with its address in EIP-55 spelling.
    function _hashId(string memory chain, string memory separator, address subject) private pure returns (bytes32) {
        return keccak256(bytes(string.concat(chain, separator, LibString.toHexStringChecksummed(subject))));
    }
}

/// @notice One call of a batch (ERC-7579).
struct Execution {
    address target;
    uint256 value;
    bytes callData;
}

/// @notice The account's entry for its executors (ERC-7579).
interface IExecutingAccount {
    function executeFromExecutor(bytes32 mode, bytes calldata executionCalldata)
        external
        payable
        returns (bytes[] memory returnData);
}

/// @notice What settling needs of a token.
interface IERC20Balance {
    function balanceOf(address account) external view returns (uint256);
}
