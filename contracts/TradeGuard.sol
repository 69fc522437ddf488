// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerkleProofLib} from "solady-src/src/utils/MerkleProofLib.sol";
import {SafeTransferLib} from "solady-src/src/utils/SafeTransferLib.sol";
import {GuardPolicy, IAccountOwners} from "./GuardPolicy.sol";
import {BridgeCalls} from "./BridgeCalls.sol";
import {GuardRegistry} from "./GuardRegistry.sol";
import {ReferencePrices} from "./ReferencePrices.sol";
import {RegistryChanges} from "./RegistryChanges.sol";
import {SettlementRule} from "./SettlementRule.sol";
import {TradeRunner} from "./TradeRunner.sol";
import {WithdrawalExecutor} from "./WithdrawalExecutor.sol";

/// @title The one contract through which an agent trades and sends
/// @notice It takes the sold token from the calling account, has a registered venue trade it, measures what the account
/// got, and reverts unless that is worth what was sold, less the account's limit for one trade. What may be lost within
/// that limit and the bands of the prices counts against the account's budget. It keeps no tokens and no allowances.
/// @dev Immutable; what it knows of the chain is in GuardRegistry, what tokens are worth in ReferencePrices, what an
/// account may lose in LossBudget, what an agent may call in GuardPolicy, and who calls venues in TradeRunner.
contract TradeGuard is ReferencePrices, GuardPolicy {
    using SafeTransferLib for address;

    /// @notice One swap. `sell` and `buy` are places in the call's list of tokens.
    struct Trade {
        address venue;
        uint8 sell;
        uint8 buy;
        uint128 amount;
        /// The least that the account must get.
        uint128 minOut;
        /// The venue's calldata; for a Uniswap v2 router the tokens between both, 20 bytes each.
        bytes route;
    }

    /// @notice One transfer to the account's own on another chain.
    struct Transfer {
        address bridge;
        uint8 token;
        uint128 amount;
        uint256 chainId;
        bytes32 remoteToken;
        /// What arrives there, in raw units of the remote token; over CCTP at least that, whatever Circle charges.
        uint128 minOut;
    }

    /// @notice What a call proves beside its tokens: attested prices in the order of the tokens that need one, and for
    /// an account with a closed list, a proof for the token of each trade that is bought, in the order of the trades.
    struct Evidence {
        SignedPrice[] prices;
        bytes32[][] proofs;
    }

    /// @dev A call in progress: prices, what the account is worth in the listed tokens, its limit, what it may have
    /// lost, and what it traded.
    struct Session {
        Price[] prices;
        uint256 worth;
        uint256 tradeBps;
        bool isClosed;
        TradeRunner.Share[] fees;
        uint256 lost;
        uint256 turnover;
        uint256 deadline;
        /// What was sold of which token, in the order of the trades.
        WithdrawalExecutor.Asset[] sales;
    }

    /// @notice The contract that calls venues.
    TradeRunner public immutable RUNNER;
    /// @notice The contract that rules on what liquidating withdrawals pay.
    SettlementRule public immutable SETTLEMENT;
    /// @notice The contract that changes the registry.
    RegistryChanges public immutable CHANGES;

    /// @dev How often turnover at attested prices counts.
    uint256 private constant ATTESTED_WEIGHT = 2;

    bool private transient _entered;

    event Traded(
        address indexed account, address indexed sell, address indexed buy, address venue, uint256 sold, uint256 bought
    );
    event Sent(
        address indexed account,
        address indexed token,
        address bridge,
        uint256 chainId,
        bytes32 recipient,
        uint256 amount,
        uint256 minOut
    );

    error Reentered();
    error Expired(uint256 deadline, uint256 blockTimestamp);
    error NotSealed();
    error VenueNotListed(address venue);
    error VenueLimit(address venue, uint256 soldValue, uint256 mostUsd);
    error BridgeNotListed(address bridge, address token, uint256 chainId, bytes32 remoteToken);
    error RecipientNotSigned(uint256 chainId);
    error TokensNotAscending(address token);
    error SameToken(address token);
    error NothingSold(address token);
    error NothingToLose();
    error NotOnClosedList(address token);
    error NotForPayout(address token);
    error TookTooMuch(address token, uint256 taken, uint256 amount);
    error TooLittle(uint256 bought, uint256 minOut);
    error UnfairTrade(uint256 soldValue, uint256 boughtValue, uint256 maxLossBps);

    constructor(address administrator_, address guardian_, IAccountOwners withdrawals)
        GuardRegistry(administrator_, guardian_)
        GuardPolicy(withdrawals)
    {
        if (administrator_ == address(0)) revert InvalidEntry(administrator_);
        RUNNER = new TradeRunner();
        SETTLEMENT = new SettlementRule();
        CHANGES = new RegistryChanges();
    }

    /// @notice What the guard does not know itself is a change of its registry.
    fallback() external {
        address changes = address(CHANGES);
        assembly ("memory-safe") {
            let place := mload(0x40)
            calldatacopy(place, 0, calldatasize())
            let succeeded := delegatecall(gas(), changes, place, calldatasize(), 0, 0)
            returndatacopy(place, 0, returndatasize())
            if iszero(succeeded) { revert(place, returndatasize()) }
            return(place, returndatasize())
        }
    }

    modifier alone() {
        if (_entered) revert Reentered();
        _entered = true;
        _requireOpen();
        _;
        _entered = false;
    }

    /// @notice Swaps for the calling account, which has approved the guard for what it sells.
    /// @param listed Ascending addresses: every token of the trades, and more if the account shall be known to be worth
    /// more than those; shares are of what is listed.
    /// @param deadline Last second (UNIX time) at which the trades may happen.
    function trade(address[] calldata listed, Trade[] calldata trades, Evidence calldata evidence, uint256 deadline)
        external
        alone
    {
        _tradeAll(listed, trades, evidence, deadline, true);
    }

    /// @notice Makes the sales of a withdrawal that the owner signed, for the call of the withdrawal executor right
    /// after this one. Reverts unless they sell the signed amounts for the token that is paid, and leave to be paid
    /// what they brought and the signed amount of that token, neither less nor more.
    function liquidate(
        SettlementRule.Payout calldata payout,
        address[] calldata listed,
        Trade[] calldata trades,
        Evidence calldata evidence,
        uint256 deadline
    ) external alone {
        uint256 before = payout.token.balanceOf(msg.sender);
        for (uint256 i; i < trades.length; ++i) {
            if (listed[trades[i].buy] != payout.token) revert NotForPayout(listed[trades[i].buy]);
        }
        WithdrawalExecutor.Asset[] memory sales;
        // What an owner withdraws pays no fee.
        if (trades.length > 0) sales = _tradeAll(listed, trades, evidence, deadline, false).sales;
        SETTLEMENT.check(payout, before, payout.token.balanceOf(msg.sender), sales);
    }

    /// @notice Sends to the calling account on another chain. What the bridge keeps counts as lost.
    function send(address[] calldata listed, Transfer calldata transfer, Evidence calldata evidence, uint256 deadline)
        external
        alone
    {
        if (block.timestamp > deadline) revert Expired(deadline, block.timestamp);
        Session memory session = _open(listed, evidence.prices, false);
        if (session.isClosed) _requireOnList(session.prices[transfer.token].token, evidence.proofs[0]);
        _send(session, transfer);
        _charge(msg.sender, session.lost, 0);
    }

    /// @notice What the agent of an account may do now: its permission, its limits, and what is left of both meters in
    /// billionths of the account.
    function policyOf(address owner)
        external
        view
        returns (Account memory account, uint256 tradeBps, uint256 budgetBps, uint256 lossLeft, uint256 turnoverLeft)
    {
        account = _accounts[owner];
        (tradeBps, budgetBps) = _limits(account.tradeBps, account.budgetBps);
        (lossLeft, turnoverLeft) = _left(account);
    }

    function _tradeAll(
        address[] calldata listed,
        Trade[] calldata trades,
        Evidence calldata evidence,
        uint256 deadline,
        bool paysFees
    ) private returns (Session memory session) {
        if (block.timestamp > deadline) revert Expired(deadline, block.timestamp);
        session = _open(listed, evidence.prices, paysFees);
        session.deadline = deadline;
        session.sales = new WithdrawalExecutor.Asset[](trades.length);
        for (uint256 i; i < trades.length; ++i) {
            if (session.isClosed) _requireOnList(session.prices[trades[i].buy].token, evidence.proofs[i]);
            session.sales[i] = _trade(session, trades[i]);
        }
        _charge(msg.sender, session.lost, session.turnover);
    }

    /// @dev Reads prices and balances before anything is called that could move them.
    function _open(address[] calldata listed, SignedPrice[] calldata signed, bool paysFees)
        private
        returns (Session memory session)
    {
        Account memory account = _accounts[msg.sender];
        (session.tradeBps,) = _limits(account.tradeBps, account.budgetBps);
        session.isClosed = account.signed & CLOSED_LIST != 0;
        if (paysFees) session.fees = _feesOf(account.signed);
        session.prices = new Price[](listed.length);
        address previous;
        uint256 used;
        for (uint256 i; i < listed.length; ++i) {
            if (listed[i] <= previous) revert TokensNotAscending(listed[i]);
            previous = listed[i];
            (session.prices[i], used) = _priceOf(listed[i], signed, used);
            session.worth += _valueDown(session.prices[i], listed[i].balanceOf(msg.sender));
        }
        if (session.worth == 0) revert NothingToLose();
    }

    function _trade(Session memory session, Trade calldata order)
        private
        returns (WithdrawalExecutor.Asset memory sale)
    {
        Price memory sell = session.prices[order.sell];
        Price memory buy = session.prices[order.buy];
        if (order.sell == order.buy) revert SameToken(sell.token);
        Venue memory venue = _venues[order.venue];
        if (venue.kind == VenueKind.NONE) revert VenueNotListed(order.venue);
        uint256 held = sell.token.balanceOf(address(RUNNER));
        uint256 came = _take(sell.token, order.amount, held);
        bytes memory call = venue.kind == VenueKind.CALLDATA
            ? order.route
            : _routerCall(sell.token, buy.token, order, came, session.deadline);
        (uint256 returned, uint256 bought, uint256 fees) = _run(
            session, TradeRunner.Order(msg.sender, order.venue, venue.spender, sell.token, held, buy.token), call
        );
        if (bought < order.minOut) revert TooLittle(bought, order.minOut);
        sale = WithdrawalExecutor.Asset(sell.token, order.amount - returned);
        // A fee is no loss: trades are held against what they brought.
        _meter(session, order, sale.amount, bought + fees, venue);
        emit Traded(msg.sender, sell.token, buy.token, order.venue, sale.amount, bought);
    }

    /// @dev Calls a venue; answers what it gave back, what the account got, and what was paid in fees.
    function _run(Session memory session, TradeRunner.Order memory order, bytes memory call)
        private
        returns (uint256 returned, uint256 bought, uint256 fees)
    {
        uint256[] memory paid;
        (returned, bought, paid) = RUNNER.run(order, session.fees, call);
        for (uint256 i; i < paid.length; ++i) {
            fees += paid[i];
            if (paid[i] > 0) emit FeeTaken(msg.sender, order.buy, session.fees[i].recipient, paid[i]);
        }
    }

    /// @dev Holds a trade against its limits, and adds what it may have lost and what it traded.
    function _meter(
        Session memory session,
        Trade calldata order,
        uint256 sold,
        uint256 bought,
        Venue memory venue
    ) private pure {
        (Price memory sell, Price memory buy) = (session.prices[order.sell], session.prices[order.buy]);
        uint256 given = _valueUp(sell, sold);
        uint256 got = _valueDown(buy, bought);
        bool isNarrower = venue.maxLossBps != 0 && venue.maxLossBps < session.tradeBps;
        _requireFair(given, got, isNarrower ? venue.maxLossBps : session.tradeBps);
        if (venue.maxUsd != 0 && given > venue.maxUsd * USD) revert VenueLimit(order.venue, given, venue.maxUsd);
        // What is lost when the market pays as much more for the one, and as much less for the other, as may be.
        (uint256 most, uint256 least) = (given * (BPS + sell.bandBps), got * (BPS - buy.bandBps));
        if (most > least) session.lost += _shareOf(most - least, session.worth * BPS);
        uint256 weight = sell.isAttested || buy.isAttested ? ATTESTED_WEIGHT : 1;
        session.turnover += _shareOf(given * weight, session.worth);
    }

    function _send(Session memory session, Transfer calldata order) private {
        Price memory price = session.prices[order.token];
        address token = price.token;
        Lane memory lane = _lanes[laneOf(order.bridge, token, order.chainId, order.remoteToken)];
        if (lane.protocol == Protocol.NONE) {
            revert BridgeNotListed(order.bridge, token, order.chainId, order.remoteToken);
        }
        bytes32 recipient = _recipientOn(order.chainId, lane.isEvm);
        uint256 held = token.balanceOf(address(RUNNER));
        bytes memory call = BridgeCalls.encode(
            lane,
            BridgeCalls.Deposit(
                msg.sender, recipient, token, order.remoteToken, _take(token, order.amount, held), order.minOut
            )
        );
        (uint256 returned,,) = _run(
            session, TradeRunner.Order(msg.sender, order.bridge, order.bridge, token, held, address(0)), call
        );
        uint256 arriving = uint256(order.minOut) * 10 ** _tokens[token].decimals / 10 ** lane.decimals;
        _meterSending(session, price, order.amount - returned, arriving);
        emit Sent(
            msg.sender, token, order.bridge, order.chainId, recipient, order.amount - returned, order.minOut
        );
    }

    /// @dev Whom the owner's permission names for a chain, else the account at the same address.
    function _recipientOn(uint256 chainId, bool isEvm) private view returns (bytes32 recipient) {
        Account memory account = _accounts[msg.sender];
        if (account.signed & RECIPIENTS != 0) recipient = recipientOn[msg.sender][account.issuedAt][chainId];
        if (recipient != 0) return recipient;
        if (!isEvm) revert RecipientNotSigned(chainId);
        return bytes32(uint256(uint160(msg.sender)));
    }

    /// @dev Of a transfer the same asset arrives, so its band is one of the difference, and it is no turnover.
    function _meterSending(Session memory session, Price memory price, uint256 amount, uint256 arriving) private pure {
        (uint256 given, uint256 got) = (_valueUp(price, amount), _valueDown(price, arriving));
        _requireFair(given, got, session.tradeBps);
        if (given > got) session.lost += _shareOf((given - got) * (BPS + price.bandBps), session.worth * BPS);
    }

    /// @dev Takes at most the amount from the account, to where the venue is called from.
    function _take(address token, uint256 amount, uint256 held) private returns (uint256 came) {
        uint256 before = token.balanceOf(msg.sender);
        token.safeTransferFrom(msg.sender, address(RUNNER), amount);
        uint256 taken = before - token.balanceOf(msg.sender);
        if (taken > amount) revert TookTooMuch(token, taken, amount);
        came = token.balanceOf(address(RUNNER)) - held;
        if (came == 0) revert NothingSold(token);
    }

    /// @dev Holds one trade against a limit, by the prices themselves.
    function _requireFair(uint256 given, uint256 got, uint256 maxLossBps) private pure {
        if (got < given && (given - got) * BPS > given * maxLossBps) revert UnfairTrade(given, got, maxLossBps);
    }

    /// @dev The shares of what is bought that go to others than the account.
    function _feesOf(uint8 signed) private view returns (TradeRunner.Share[] memory shares) {
        if (signed & (INTEGRATOR_FEE | SERVICE_FEE) == 0) return shares;
        shares = new TradeRunner.Share[](2);
        if (signed & INTEGRATOR_FEE != 0) shares[0] = _shareOfFee(integratorFees[msg.sender]);
        if (signed & SERVICE_FEE != 0) shares[1] = _shareOfFee(serviceFees[msg.sender]);
    }

    function _shareOfFee(Fee memory fee) private pure returns (TradeRunner.Share memory) {
        return TradeRunner.Share(fee.recipient, fee.bps);
    }

    function _shareOf(uint256 value, uint256 worth) private pure returns (uint256) {
        return (value * WHOLE + worth - 1) / worth;
    }

    function _routerCall(address sell, address buy, Trade calldata order, uint256 amount, uint256 deadline)
        private
        view
        returns (bytes memory)
    {
        uint256 between = order.route.length / 20;
        address[] memory path = new address[](between + 2);
        path[0] = sell;
        for (uint256 i; i < between; ++i) path[i + 1] = address(bytes20(order.route[20 * i:20 * i + 20]));
        path[between + 1] = buy;
        return abi.encodeCall(
            IRouter.swapExactTokensForTokens, (amount, order.minOut, path, address(RUNNER), deadline)
        );
    }

    function _requireOnList(address token, bytes32[] calldata proof) private view {
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(token))));
        if (!MerkleProofLib.verifyCalldata(proof, closedRoot[msg.sender], leaf)) revert NotOnClosedList(token);
    }

    function _isTrade(bytes4 selector) internal pure override returns (bool) {
        return selector == TradeGuard.trade.selector || selector == TradeGuard.send.selector;
    }

    function _liquidate() internal pure override returns (bytes4) {
        return TradeGuard.liquidate.selector;
    }

    function _checkPair(bytes memory liquidation, bytes memory settlement) internal view override {
        SETTLEMENT.requirePair(liquidation, settlement);
    }

    function _requireSealed() internal view override {
        if (!_state.isSealed) revert NotSealed();
    }
}

/// @notice What is called of a Uniswap v2 router.
interface IRouter {
    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external returns (uint256[] memory amounts);
}
