// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "solady-src/src/utils/ECDSA.sol";
import {EIP712} from "solady-src/src/utils/EIP712.sol";
import {SafeTransferLib} from "solady-src/src/utils/SafeTransferLib.sol";

/// @title Stand-in of Ondo's GMTokenManager: an issuer's word for a price, used once
/// @notice Has the functions, the order of fields and the refusals that Ondo documents. It gives out of a stock and
/// takes back into it, where the real one mints and burns; what the real one pays back in USDon, it keeps.
contract IssuerManager is EIP712 {
    using SafeTransferLib for address;

    enum QuoteSide {
        BUY,
        SELL
    }

    /// @dev Price in US dollars with 18 decimals for a whole token; quantity with 18 decimals.
    struct Quote {
        uint256 chainId;
        uint256 attestationId;
        bytes32 userId;
        address asset;
        uint256 price;
        uint256 quantity;
        uint256 expiration;
        QuoteSide side;
        bytes32 additionalData;
    }

    bytes32 private constant QUOTE_TYPE = keccak256(
        "Quote(uint256 chainId,uint256 attestationId,bytes32 userId,address asset,uint256 price,uint256 quantity,uint256 expiration,uint8 side,bytes32 additionalData)"
    );
    /// @dev 10 US dollars.
    uint256 private constant LEAST_DEPOSIT = 10e18;

    address public immutable SIGNER;
    /// @notice The one customer, and the contract by which it trades.
    bytes32 public immutable USER_ID;
    address public immutable CALLER;
    /// @notice The stablecoin that is taken and paid, of six decimals.
    address public immutable STABLE;

    mapping(uint256 attestationId => bool) public used;

    error UserNotRegistered(address caller);
    error InvalidSigner();
    error AttestationUsed(uint256 attestationId);
    error AttestationExpired();
    error InvalidQuote();
    error TokenNotAccepted(address token);
    error InsufficientDeposit(uint256 value, uint256 needed);
    error BelowMinimum(uint256 value);

    constructor(address signer, bytes32 userId, address caller, address stable) {
        (SIGNER, USER_ID, CALLER, STABLE) = (signer, userId, caller, stable);
    }

    /// @notice Buys from the issuer. All of `depositTokenAmount` is taken.
    function mintWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address depositToken,
        uint256 depositTokenAmount
    ) external returns (uint256) {
        _use(quote, signature, QuoteSide.BUY, depositToken);
        uint256 needed = quote.price * quote.quantity / 1e18;
        uint256 value = depositTokenAmount * 1e12;
        if (value < needed) revert InsufficientDeposit(value, needed);
        if (needed < LEAST_DEPOSIT) revert BelowMinimum(needed);
        depositToken.safeTransferFrom(msg.sender, address(this), depositTokenAmount);
        quote.asset.safeTransfer(msg.sender, quote.quantity);
        return quote.quantity;
    }

    /// @notice Sells to the issuer.
    function redeemWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address receiveToken,
        uint256 minimumReceiveAmount
    ) external returns (uint256 amount) {
        _use(quote, signature, QuoteSide.SELL, receiveToken);
        amount = quote.price * quote.quantity / 1e18 / 1e12;
        if (amount < minimumReceiveAmount) revert InsufficientDeposit(amount, minimumReceiveAmount);
        quote.asset.safeTransferFrom(msg.sender, address(this), quote.quantity);
        receiveToken.safeTransfer(msg.sender, amount);
    }

    function _use(Quote calldata quote, bytes calldata signature, QuoteSide side, address stable) private {
        if (msg.sender != CALLER || quote.userId != USER_ID) revert UserNotRegistered(msg.sender);
        if (stable != STABLE) revert TokenNotAccepted(stable);
        if (quote.side != side || quote.chainId != block.chainid) revert InvalidQuote();
        if (block.timestamp > quote.expiration) revert AttestationExpired();
        if (used[quote.attestationId]) revert AttestationUsed(quote.attestationId);
        used[quote.attestationId] = true;
        bytes32 digest = _hashTypedData(keccak256(abi.encode(QUOTE_TYPE, quote)));
        if (ECDSA.recoverCalldata(digest, signature) != SIGNER) revert InvalidSigner();
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("OndoGMTokenManager", "1");
    }
}
