// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "./GuardRegistry.sol";
import {WithdrawalExecutor} from "./WithdrawalExecutor.sol";

/// @title What an agent may make of an owner's liquidating withdrawal
/// @notice The owner signs which assets are sold, how much of each, and who is paid; the withdrawal executor takes
/// token and `keep` by the agent's word. Here they are held to what was signed: the token is one that the registry
/// names for it, the sales are the signed assets and amounts, and the account keeps all but what they brought and what
/// the owner signed of the token itself.
/// @dev Asked by the guard between the sales and the payment, so no other operation of a bundle comes between.
contract SettlementRule {
    /// @notice What the agent is about to let the withdrawal executor pay.
    struct Payout {
        WithdrawalExecutor.Asset[] assets;
        address token;
        uint256 keep;
    }

    /// @dev A hundredth: of what is kept, with one whole token, since something may have arrived after the agent read
    /// the balance; and of a signed amount that a venue gave back.
    uint256 private constant TOLERANCE = 100;

    ITokens public immutable GUARD;

    error NotForPayout(address token);
    error NotAsSigned(address token, uint256 amount, uint256 signed);
    error WrongKeep(uint256 keep, uint256 most);
    error AnotherPayout();

    constructor() {
        GUARD = ITokens(msg.sender);
    }

    /// @notice Reverts unless a payout is what its sales and the owner's signature make of it.
    /// @param before The account's balance of the payout's token before the sales.
    /// @param afterwards The same balance after them.
    function check(
        Payout calldata payout,
        uint256 before,
        uint256 afterwards,
        WithdrawalExecutor.Asset[] calldata sales
    ) external view {
        GuardRegistry.Token memory listed = GUARD.tokens(payout.token);
        if (listed.listing != GuardRegistry.Listing.PAYOUT) revert NotForPayout(payout.token);
        (uint256 given, uint256 matched) = (0, 0);
        for (uint256 i; i < payout.assets.length; ++i) {
            WithdrawalExecutor.Asset calldata asset = payout.assets[i];
            if (asset.token == payout.token) {
                given += asset.amount;
                continue;
            }
            uint256 sold;
            for (uint256 j; j < sales.length; ++j) {
                if (sales[j].token != asset.token) continue;
                sold += sales[j].amount;
                ++matched;
            }
            bool isAll = sold <= asset.amount && sold + asset.amount / TOLERANCE >= asset.amount;
            if (!isAll) revert NotAsSigned(asset.token, sold, asset.amount);
        }
        if (matched != sales.length) revert NotAsSigned(payout.token, matched, sales.length);
        if (given > before) revert NotAsSigned(payout.token, before, given);
        uint256 most = before - given;
        if (afterwards < before) revert NotAsSigned(payout.token, afterwards, before);
        uint256 tolerance = most / TOLERANCE + 10 ** listed.decimals;
        if (payout.keep > most || payout.keep + tolerance < most) revert WrongKeep(payout.keep, most);
    }

    /// @notice Reverts unless a call of `settle` names the payout with which a call of `liquidate` begins. Both come
    /// with their selectors.
    function requirePair(bytes calldata liquidation, bytes calldata settlement) external pure {
        Payout memory payout = abi.decode(liquidation[4:], (Payout));
        (WithdrawalExecutor.Authorization memory signed,, address token, uint256 keep) =
            abi.decode(settlement[4:], (WithdrawalExecutor.Authorization, bytes, address, uint256));
        bool isSame = payout.token == token && payout.keep == keep
            && keccak256(abi.encode(payout.assets)) == keccak256(abi.encode(signed.assets));
        if (!isSame) revert AnotherPayout();
    }
}

/// @notice What is read of the guard.
interface ITokens {
    function tokens(address token) external view returns (GuardRegistry.Token memory);
}
