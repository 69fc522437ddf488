// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {TradeRunner} from "../../contracts/TradeRunner.sol";
import {AnyPriceRoute} from "./Venues.sol";
import {OddToken, TestFeed} from "./OddTokens.sol";

/// @title A thief with the agent's key, who also owns pools, routes, tokens' whims and the clock
/// @notice Every public function is one move; forge plays them in any order. Refused moves change nothing.
contract Attacker is GuardFixture {
    /// @notice What the account was worth at most, by the true prices.
    uint256 public mostWorth;
    /// @notice When the attack began.
    uint256 public began;
    /// @notice What went to the bridge and is owed to the account elsewhere, at its least.
    uint256 public owedElsewhere;
    uint256 public moves;
    uint256 public made;
    /// @notice True when a token's callback got a trade of its own into another one.
    bool public isEntered;
    /// @notice True when a trade was made although a listed token's feed was silent for longer than it may be.
    bool public isOldPriceTaken;
    bool private isInTrade;

    constructor() {
        super.setUp();
        began = vm.getBlockTimestamp();
        mostWorth = _worth();
    }

    /// @dev Nobody begins anew in the middle.
    function setUp() public override {}

    function worth() public view returns (uint256) {
        return _worth() + owedElsewhere;
    }

    function theGuard() external view returns (TradeGuard) {
        return guard;
    }

    function theTokens() external view returns (OddToken[4] memory) {
        return tokens;
    }

    function theVenues() external view returns (address[4] memory) {
        return [address(route), address(router), address(pool), address(messenger)];
    }

    function _afterwards() private {
        ++moves;
        if (worth() > mostWorth) mostWorth = worth();
    }

    function tradeAtAnyPrice(uint256 sell, uint256 buy, uint256 share, uint256 bps) external {
        (sell, buy, bps) = (_within(sell, 0, 3), _within(buy, 0, 3), _within(bps, 9_700, 10_050));
        uint256 amount = tokens[sell].balanceOf(address(account)) * _within(share, 1, 100) / 100;
        if (amount == 0) return;
        _make(_paying(sell, buy, amount, bps));
    }

    /// @dev The greediest that passes, also after the limits were tightened.
    function tradeAtTheLimit(uint256 sell, uint256 buy, uint256 share) public {
        (sell, buy) = (_within(sell, 0, 3), _within(buy, 0, 3));
        uint256 amount = tokens[sell].balanceOf(address(account)) * _within(share, 1, 100) / 100;
        if (amount == 0) return;
        _make(_paying(sell, buy, amount, _atTheLimit()));
    }

    /// @dev In basis points of what is fair, one above what is refused.
    function _atTheLimit() private view returns (uint256) {
        (, uint256 tradeBps,,,) = guard.policyOf(address(account));
        return 10_001 - tradeBps;
    }

    function tradeOverAPoolOfOnesOwn(uint256 sell, uint256 buy, uint256 share, uint256 bps) external {
        (sell, buy, bps) = (_within(sell, 0, 3), _within(buy, 0, 3), _within(bps, 0, 10_000));
        uint256 amount = tokens[sell].balanceOf(address(account)) * _within(share, 1, 100) / 100;
        if (amount == 0) return;
        uint256 rate = _fair(sell, buy, units[sell]) * bps * 1e14 / units[sell];
        router.set(address(tokens[sell]), address(tokens[buy]), rate);
        TradeGuard.Trade[] memory trades = new TradeGuard.Trade[](1);
        trades[0] = TradeGuard.Trade(address(router), uint8(sell), uint8(buy), uint128(amount), 0, "");
        _make(trades);
    }

    function tradeAndStealInTheMiddle(uint256 sell, uint256 buy, uint256 kind, uint256 amount) external {
        (sell, buy) = (_within(sell, 0, 3), _within(buy, 0, 3));
        uint256 most = tokens[sell].balanceOf(address(account));
        if (most < 2) return;
        amount = _within(amount, 1, most);
        (address target, bytes memory theft) = _theft(_within(kind, 0, 5), sell, buy, most / 2);
        uint256 pay = _fair(sell, buy, amount) * _atTheLimit() / 10_000;
        bytes memory data =
            abi.encodeCall(AnyPriceRoute.swapAndCall, (tokens[sell], tokens[buy], pay, target, theft));
        _make(_routed(sell, buy, amount, data));
    }

    function _theft(uint256 kind, uint256 sell, uint256 buy, uint256 amount)
        private
        view
        returns (address target, bytes memory data)
    {
        address runner = address(guard.RUNNER());
        (address sold, address bought) = (address(tokens[sell]), address(tokens[buy]));
        if (kind == 0) return (sold, abi.encodeCall(OddToken.transferFrom, (address(account), THIEF, amount)));
        if (kind == 1) return (sold, abi.encodeCall(OddToken.transferFrom, (address(account), runner, amount)));
        if (kind == 2) return (bought, abi.encodeCall(OddToken.transferFrom, (runner, THIEF, 1)));
        if (kind == 3) {
            TradeRunner.Order memory order =
                TradeRunner.Order(THIEF, address(route), address(route), bought, 0, sold);
            return (runner, abi.encodeCall(TradeRunner.run, (order, new TradeRunner.Share[](0), "")));
        }
        if (kind == 4) return (address(guard), abi.encodeCall(guard.tighten, (1, 1)));
        return (address(guard), abi.encodeCall(RegistryChanges.pause, ()));
    }

    function deposit(uint256 share, uint256 bps) external {
        uint256 amount = tokens[0].balanceOf(address(account)) * _within(share, 1, 50) / 100;
        uint256 arriving = amount * 1e12 * _within(bps, 9_700, 10_000) / 10_000;
        _sendOver(address(pool), amount, arriving, arriving / 1e10);
    }

    function burn(uint256 share, uint256 bps) external {
        uint256 amount = tokens[0].balanceOf(address(account)) * _within(share, 1, 50) / 100;
        uint256 arriving = amount * _within(bps, 9_700, 10_000) / 10_000;
        _sendOver(address(messenger), amount, arriving, arriving * 1e2);
    }

    /// @param owed In US dollars of 8 decimals.
    function _sendOver(address bridge, uint256 amount, uint256 arriving, uint256 owed) private {
        TradeGuard.Transfer memory order =
            TradeGuard.Transfer(bridge, 0, uint128(amount), 42_161, REMOTE, uint128(arriving));
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        try guard.send(listed, order, evidence, vm.getBlockTimestamp()) {
            owedElsewhere += owed;
            ++made;
        } catch {}
        _afterwards();
    }

    /// @dev Or plain again, as often as not.
    function makeATokenOdd(uint256 token, uint256 kind, uint256 bps) external {
        OddToken odd = tokens[_within(token, 0, 3)];
        kind = _within(kind, 0, 9);
        odd.keep(kind == 0 ? _within(bps, 0, 300) : 0);
        odd.refuse(kind == 1);
        odd.lie(kind == 2);
        odd.block_(address(guard.RUNNER()), kind == 3);
        odd.setHook(kind == 4 ? address(this) : address(0));
        _afterwards();
    }

    /// @dev A token that was made odd calls this in the middle of its transfers.
    function moved(address, address, uint256) external {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1e6, 9_801);
        vm.prank(address(account));
        try guard.trade(listed, trades, evidence, vm.getBlockTimestamp()) {
            isEntered = isInTrade;
        } catch {}
    }

    function donate(uint256 token, uint256 amount) external {
        tokens[_within(token, 0, 3)].mint(address(account), _within(amount, 0, 10));
        _afterwards();
    }

    function wait(uint256 time) external {
        vm.warp(vm.getBlockTimestamp() + _within(time, 1, 12 hours));
        _refreshFeeds();
        sequencer.set(0, began - 2 days, vm.getBlockTimestamp());
        _afterwards();
    }

    function tradeAtAnOldPrice(uint256 feed, uint256 sell, uint256 buy, uint256 share) external {
        uint256 before = made;
        TestFeed old = feeds[_within(feed, 0, 2)];
        old.set(old.answer(), 0, vm.getBlockTimestamp() - 1 days - 1);
        tradeAtTheLimit(sell, buy, share);
        if (made > before) isOldPriceTaken = true;
        _refreshFeeds();
    }

    /// @notice When the thief has gone: tokens and feeds are honest, and the meters have run out.
    /// @return isMade True when the account's agent then trades honestly.
    function recover() external returns (bool isMade) {
        for (uint256 i; i < 4; ++i) {
            tokens[i].keep(0);
            tokens[i].refuse(false);
            tokens[i].lie(false);
            tokens[i].block_(address(guard.RUNNER()), false);
            tokens[i].setHook(address(0));
        }
        vm.warp(vm.getBlockTimestamp() + 7 days);
        _refreshFeeds();
        sequencer.set(0, began - 2 days, vm.getBlockTimestamp());
        uint256 sell = _largest();
        uint256 before = made;
        _make(_paying(sell, sell == 0 ? 1 : 0, tokens[sell].balanceOf(address(account)) / 10, 9_950));
        return made > before;
    }

    /// @dev The token of which the account has the most by value.
    function _largest() private view returns (uint256 token) {
        uint256 most;
        for (uint256 i; i < 4; ++i) {
            uint256 value = tokens[i].balanceOf(address(account)) * _price8(i) / units[i];
            if (value > most) (token, most) = (i, value);
        }
    }

    function tighten(uint16 tradeBps, uint16 budgetBps) external {
        vm.prank(address(account));
        try guard.tighten(uint16(_within(tradeBps, 150, 220)), uint16(_within(budgetBps, 150, 220))) {} catch {}
        _afterwards();
    }

    function _make(TradeGuard.Trade[] memory trades) private {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        isInTrade = true;
        try guard.trade(listed, trades, evidence, vm.getBlockTimestamp()) {
            ++made;
        } catch {}
        isInTrade = false;
        _afterwards();
    }
}
