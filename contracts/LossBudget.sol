// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the trades of an account may lose, and how much they may trade
/// @notice Losses are shares of what the account was worth before the trade, counted as large as the bands of its
/// prices let them be. They add up, and are forgiven evenly over PERIOD. Turnover has a meter of its own, which bounds
/// what is lost when a price is farther from the market than its band; at attested prices, one key's word, it counts
/// twice.
abstract contract LossBudget {
    /// @notice Everything the guard keeps of an account, in one word of storage.
    struct Account {
        /// The one permission that may act; another one takes its place when the owner signs anew.
        bytes4 permissionId;
        /// When the owner's permission was made (UNIX time). Only a later one replaces it.
        uint40 issuedAt;
        /// Last second at which the permission holds; zero when it was revoked.
        uint40 validUntil;
        /// Most that one trade may lose, of what is sold.
        uint16 tradeBps;
        /// Most that trades may lose in all, of what the account is worth.
        uint16 budgetBps;
        /// Shares in billionths, as they were at `chargedAt`.
        uint32 lost;
        uint32 turnover;
        uint40 chargedAt;
        /// What else the owner signed, a bit each: CLOSED_LIST, INTEGRATOR_FEE, SERVICE_FEE, RECIPIENTS.
        uint8 signed;
    }

    uint8 internal constant CLOSED_LIST = 1;
    uint8 internal constant INTEGRATOR_FEE = 2;
    uint8 internal constant SERVICE_FEE = 4;
    uint8 internal constant RECIPIENTS = 8;
    uint8 internal constant MOST_SIGNED = 15;

    uint256 public constant PERIOD = 7 days;
    uint16 public constant DEFAULT_TRADE_BPS = 200;
    uint16 public constant DEFAULT_BUDGET_BPS = 200;
    /// @notice The widest that even an owner can sign.
    uint16 public constant WIDEST_BPS = 1_000;
    /// @notice What may be traded for each share that may be lost: with the default the account twice a PERIOD.
    uint256 public constant TURNOVER_OF_BUDGET = 100;
    /// @notice What may be traded at most, however wide a budget its owner signed.
    uint256 internal constant WIDEST_TURNOVER = 4 * WHOLE;

    /// @dev All of an account, in the unit of shares.
    uint256 internal constant WHOLE = 1e9;
    uint256 private constant SHARE_OF_A_BPS = 1e5;

    mapping(address account => Account) internal _accounts;

    event Charged(address indexed account, uint256 lost, uint256 turnover);
    event LimitsTightened(address indexed account, uint256 tradeBps, uint256 budgetBps);

    error BudgetExceeded(uint256 wanted, uint256 left);
    error TurnoverExceeded(uint256 wanted, uint256 left);
    error NotTighter(uint256 tradeBps, uint256 budgetBps);

    /// @notice Narrows the calling account's limits, until its owner signs anew. The agent may: a tenant's wish.
    function tighten(uint16 tradeBps, uint16 budgetBps) external {
        Account storage account = _accounts[msg.sender];
        (uint256 trade, uint256 budget) = _limits(account.tradeBps, account.budgetBps);
        if (tradeBps == 0 || budgetBps == 0 || tradeBps > trade || budgetBps > budget) {
            revert NotTighter(tradeBps, budgetBps);
        }
        account.tradeBps = tradeBps;
        account.budgetBps = budgetBps;
        emit LimitsTightened(msg.sender, tradeBps, budgetBps);
    }

    /// @dev Zero stands for the default.
    function _limits(uint16 tradeBps, uint16 budgetBps) internal pure returns (uint256 trade, uint256 budget) {
        trade = tradeBps == 0 ? DEFAULT_TRADE_BPS : tradeBps;
        budget = budgetBps == 0 ? DEFAULT_BUDGET_BPS : budgetBps;
    }

    /// @dev What both meters show now.
    function _metersOf(Account memory account) internal view returns (uint256 lost, uint256 turnover) {
        (uint256 most, uint256 mostTurnover) = _most(account);
        uint256 elapsed = block.timestamp - account.chargedAt;
        lost = _less(account.lost, most * elapsed / PERIOD);
        turnover = _less(account.turnover, mostTurnover * elapsed / PERIOD);
    }

    /// @dev What an account may lose and trade at once.
    function _most(Account memory account) private pure returns (uint256 lost, uint256 turnover) {
        (, uint256 budgetBps) = _limits(account.tradeBps, account.budgetBps);
        lost = budgetBps * SHARE_OF_A_BPS;
        turnover = lost * TURNOVER_OF_BUDGET;
        if (turnover > WIDEST_TURNOVER) turnover = WIDEST_TURNOVER;
    }

    /// @dev What may still be lost and traded: shares of the account in billionths.
    function _left(Account memory account) internal view returns (uint256 lossLeft, uint256 turnoverLeft) {
        (uint256 most, uint256 mostTurnover) = _most(account);
        (uint256 lost, uint256 turnover) = _metersOf(account);
        return (_less(most, lost), _less(mostTurnover, turnover));
    }

    /// @dev Adds shares to the meters, or refuses.
    function _charge(address owner, uint256 lost, uint256 turnover) internal {
        if (lost == 0 && turnover == 0) return;
        Account memory account = _accounts[owner];
        (uint256 most, uint256 mostTurnover) = _most(account);
        (uint256 lostBefore, uint256 turnoverBefore) = _metersOf(account);
        if (lost > _less(most, lostBefore)) revert BudgetExceeded(lost, _less(most, lostBefore));
        if (turnover > _less(mostTurnover, turnoverBefore)) {
            revert TurnoverExceeded(turnover, _less(mostTurnover, turnoverBefore));
        }
        account.lost = uint32(lostBefore + lost);
        account.turnover = uint32(turnoverBefore + turnover);
        account.chargedAt = uint40(block.timestamp);
        _accounts[owner] = account;
        emit Charged(owner, lost, turnover);
    }

    function _less(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : 0;
    }
}
