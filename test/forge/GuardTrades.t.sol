// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {LossBudget} from "../../contracts/LossBudget.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {TradeRunner} from "../../contracts/TradeRunner.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {OddToken} from "./OddTokens.sol";
import {TestAccount} from "./TestAccount.sol";
import {AnyPriceRoute} from "./Venues.sol";

/// @title One trade at a time: what passes, what is refused, and what it costs the account
contract GuardTradesTest is GuardFixture {
    function test_aFairTradePaysTheAccountAndLeavesNothingBehind() public {
        uint256 before = tokens[1].balanceOf(address(account));
        _trade(_paying(0, 1, 1_000e6, 9_970));
        assertEq(tokens[1].balanceOf(address(account)) - before, _fair(0, 1, 1_000e6) * 9_970 / 10_000, "bought");
        _assertNothingLeft();
    }

    function testFuzz_aTradePassesExactlyWhenItIsFair(uint256 sell, uint256 buy, uint256 amount, uint256 bps) public {
        (sell, buy) = (_within(sell, 0, 3), _within(buy, 0, 3));
        vm.assume(sell != buy);
        amount = _within(amount, _fair(0, sell, 10e6), tokens[sell].balanceOf(address(account)));
        bps = _within(bps, 0, 12_000);
        uint256 before = _worth();
        TradeGuard.Trade[] memory trades = _paying(sell, buy, amount, bps);
        // At the bound itself the rounding to raw units decides.
        if (bps >= 9_801) {
            _trade(trades);
            assertLe(before * 98, _worth() * 100 + 100, "lost more than two percent");
        } else if (bps <= 9_799) {
            _refused(trades, TradeGuard.UnfairTrade.selector);
        }
        _assertNothingLeft();
    }

    function test_aRouterIsCalledWithTheGuardsOwnCall() public {
        router.set(address(tokens[0]), address(tokens[2]), 2e15);
        router.set(address(tokens[2]), address(tokens[1]), 20e28);
        TradeGuard.Trade[] memory trades = new TradeGuard.Trade[](1);
        bytes memory hub = abi.encodePacked(address(tokens[2]));
        trades[0] = TradeGuard.Trade(address(router), 0, 1, 6_000e6, 0, hub);
        uint256 before = tokens[1].balanceOf(address(account));
        _trade(trades);
        assertEq(tokens[1].balanceOf(address(account)) - before, 2.4 ether, "through the hub");
        _assertNothingLeft();
    }

    function testFuzz_aPoolOfTheThiefsOwnMakingPaysTheReferenceOrNothing(uint256 rate) public {
        rate = _within(rate, 0, 1e18 * 1e12 * 9_799 / 10_000 / 2_500);
        router.set(address(tokens[0]), address(tokens[1]), rate);
        TradeGuard.Trade[] memory trades = new TradeGuard.Trade[](1);
        trades[0] = TradeGuard.Trade(address(router), 0, 1, 25_000e6, 0, "");
        _refused(trades, TradeGuard.UnfairTrade.selector);
    }

    function test_manyTradesInOneCallAreHeldEachAndTogether() public {
        TradeGuard.Trade[] memory trades = new TradeGuard.Trade[](8);
        for (uint256 i; i < 8; ++i) trades[i] = _paying(0, 1, 3_000e6, 9_900)[0];
        _trade(trades);
        (,,, uint256 left,) = guard.policyOf(address(account));
        // Eight times one percent of 3 percent of the account is 24 hundredths of a percent of it.
        // and the bands a basis point of 24 percent sold, and one of 23.76 percent bought.
        assertLe(left, 2e7 - 2_400_000 - 47_760, "shares of the account");
        assertLe(2e7 - 2_400_100 - 47_760, left, "rounding");
    }

    function test_theBudgetIsTheEndAndSevenDaysForgiveIt() public {
        uint256 worth = _worth();
        uint256 turns;
        for (; turns < 20; ++turns) {
            try this.tradeAQuarter(turns % 2 == 0) {} catch {
                break;
            }
        }
        assertLe(worth * 980, _worth() * 1_000, "lost more than the budget");
        assertLe(_worth() * 1_000, worth * 983, "the budget ended early");
        TradeGuard.Trade[] memory next = _paying(0, 1, tokens[0].balanceOf(address(account)) / 2, 9_801);
        _refused(next, LossBudget.BudgetExceeded.selector);
        vm.warp(vm.getBlockTimestamp() + 7 days);
        _refreshFeeds();
        _trade(next);
    }

    function tradeAQuarter(bool isFirst) external {
        (uint256 sell, uint256 buy) = isFirst ? (0, 1) : (1, 0);
        _trade(_paying(sell, buy, tokens[sell].balanceOf(address(account)) / 4, 9_801));
    }

    function test_turnoverIsTheAccountTwiceAndOfAttestedTokensOnceAWeek() public {
        uint256 turns;
        for (; turns < 20; ++turns) {
            try this.tradeStock(turns % 2 == 0) {} catch {
                break;
            }
        }
        // 20,000 of 100,000 a turn.
        assertEq(turns, 5, "turns");
        _refused(_paying(0, 3, 20_000e6, 10_000), LossBudget.TurnoverExceeded.selector);
        _refused(_paying(0, 1, 20_000e6, 10_000), LossBudget.TurnoverExceeded.selector);
        vm.warp(START + 7 days);
        _refreshFeeds();
        for (turns = 0; turns < 20; ++turns) {
            try this.tradeEther(turns % 2 == 0) {} catch {
                break;
            }
        }
        assertEq(turns, 10, "turns of tokens with feeds");
        _refused(_paying(0, 1, 1_000e6, 10_000), LossBudget.TurnoverExceeded.selector);
    }

    function tradeEther(bool isSale) external {
        _trade(isSale ? _paying(1, 0, 8 ether, 10_000) : _paying(0, 1, 20_000e6, 10_000));
    }

    function tradeStock(bool isSale) external {
        _trade(isSale ? _paying(3, 0, 200 ether, 10_000) : _paying(0, 3, 20_000e6, 10_000));
    }

    function test_aRouteCannotSpendWhatAccountsAllowedTheGuard() public {
        bytes[4] memory attacks = [
            abi.encodeCall(OddToken.transferFrom, (address(account), THIEF, 1e6)),
            abi.encodeCall(OddToken.transferFrom, (address(account), address(guard.RUNNER()), 1e6)),
            abi.encodeCall(OddToken.approve, (THIEF, type(uint256).max)),
            abi.encodeCall(OddToken.transferFrom, (address(guard.RUNNER()), THIEF, 1))
        ];
        uint256 worth = _worth();
        for (uint256 i; i < attacks.length; ++i) {
            bytes memory data = abi.encodeCall(
                AnyPriceRoute.swapAndCall,
                (tokens[0], tokens[1], _fair(0, 1, 1_000e6), address(tokens[0]), attacks[i])
            );
            _trade(_routed(0, 1, 1_000e6, data));
        }
        assertLe(worth, _worth() + 10, "something was taken");
        assertEq(tokens[0].balanceOf(THIEF), 0, "the thief's");
        _assertNothingLeft();
    }

    function test_aRouteCannotEnterAgain() public {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        bytes memory again =
            abi.encodeCall(TradeGuard.trade, (listed, _paying(0, 1, 1e6, 9_801), evidence, vm.getBlockTimestamp()));
        bytes memory asAccount = abi.encodeCall(account.call, (address(guard), again));
        bytes memory data = abi.encodeCall(
            AnyPriceRoute.swapAndCall, (tokens[0], tokens[1], _fair(0, 1, 1_000e6), address(account), asAccount)
        );
        _trade(_routed(0, 1, 1_000e6, data));
        (,,, uint256 left,) = guard.policyOf(address(account));
        // Two basis points of a hundredth of the account; the inner trade would have lost 199 of a dollar more.
        assertEq(left, ALL_OF_THE_BUDGET - 2_000, "the inner trade was made");
        TradeRunner runner = guard.RUNNER();
        vm.expectPartialRevert(TradeRunner.OnlyGuard.selector);
        runner.run(
            TradeRunner.Order(THIEF, address(route), address(route), address(tokens[0]), 0, address(tokens[1])),
            new TradeRunner.Share[](0),
            ""
        );
    }

    function test_aTokenThatCallsBackCannotEnterAgain() public {
        Reentering hook = new Reentering(guard, account);
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        uint256 deadline = vm.getBlockTimestamp();
        hook.set(abi.encodeCall(TradeGuard.trade, (listed, _paying(0, 1, 1e6, 9_801), evidence, deadline)));
        tokens[0].setHook(address(hook));
        _trade(_paying(0, 1, 1_000e6, 10_000));
        assertTrue(hook.tries() > 0, "never called back");
        assertEq(hook.entered(), 0, "entered");
    }

    function test_whatComesToTheAccountFromElsewhereIsNotTheTrades() public {
        bytes memory deliver = abi.encodeCall(OddToken.mint, (address(account), 10 ether));
        bytes memory data = abi.encodeCall(
            AnyPriceRoute.swapAndCall, (tokens[0], tokens[1], 0, address(tokens[1]), deliver)
        );
        _refused(_routed(0, 1, 1_000e6, data), TradeGuard.UnfairTrade.selector);
    }

    function test_whatIsNotSoldComesBackAndDoesNotCount() public {
        uint256 pay = _fair(0, 1, 400e6);
        bytes memory data =
            abi.encodeCall(AnyPriceRoute.swap, (tokens[0], tokens[1], 400e6, pay, address(guard.RUNNER())));
        uint256 before = tokens[0].balanceOf(address(account));
        _trade(_routed(0, 1, 1_000e6, data));
        assertEq(before - tokens[0].balanceOf(address(account)), 400e6, "sold");
        _assertNothingLeft();
    }

    function testFuzz_aTokenThatKeepsAFeeIsMeasuredAtTheAccount(uint256 feeBps, bool isSold) public {
        feeBps = _within(feeBps, 1, 5_000);
        tokens[0].keep(feeBps);
        uint256 before = _worth();
        TradeGuard.Trade[] memory trades =
            isSold ? _paying(0, 1, 1_000e6, 10_000) : _paying(1, 0, 0.4 ether, 10_000);
        if (!isSold && feeBps > 101) _refused(trades, TradeGuard.UnfairTrade.selector);
        else if (isSold || feeBps < 99) _trade(trades);
        assertLe(before * 98, _worth() * 100, "lost more than two percent");
        tokens[0].keep(0);
        _assertNothingLeft();
    }

    function test_tokensThatLieRefuseOrBlockAreNotTraded() public {
        tokens[0].lie(true);
        _refused(_paying(0, 1, 1_000e6, 10_000), TradeGuard.NothingSold.selector);
        tokens[0].lie(false);
        tokens[0].refuse(true);
        _refused(_paying(0, 1, 1_000e6, 10_000), bytes4(keccak256("TransferFromFailed()")));
        tokens[0].refuse(false);
        tokens[1].refuse(true);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        _refused(trades, TradeGuard.UnfairTrade.selector);
        tokens[1].refuse(false);
        tokens[0].block_(address(guard.RUNNER()), true);
        _refused(_paying(0, 1, 1_000e6, 10_000), bytes4(keccak256("TransferFromFailed()")));
    }

    function testFuzz_aRebaseInTheMiddleOfATradeCannotMakeItFair(uint256 scale) public {
        scale = _within(scale, 0.1e18, 3e18);
        bytes memory rebase = abi.encodeCall(OddToken.rebase, (scale));
        bytes memory data = abi.encodeCall(
            AnyPriceRoute.swapAndCall, (tokens[0], tokens[1], 0, address(tokens[1]), rebase)
        );
        _refused(_routed(0, 1, 1_000e6, data), TradeGuard.UnfairTrade.selector);
    }

    function test_nothingButListedTokensVenuesAndLanesIsTouched() public {
        OddToken unlisted = new OddToken(18);
        unlisted.mint(address(account), 1e18);
        address[] memory listed = new address[](1);
        listed[0] = address(unlisted);
        TradeGuard.Evidence memory none;
        vm.prank(address(account));
        vm.expectPartialRevert(ReferencePrices.TokenNotListed.selector);
        guard.trade(listed, new TradeGuard.Trade[](0), none, vm.getBlockTimestamp());
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1e6, 10_000);
        trades[0].venue = address(new AnyPriceRoute());
        _refused(trades, TradeGuard.VenueNotListed.selector);
        trades[0].venue = address(pool);
        _refused(trades, TradeGuard.VenueNotListed.selector);
        trades[0].venue = address(tokens[0]);
        _refused(trades, TradeGuard.VenueNotListed.selector);
    }

    function test_aTokenCountsOnceAndNoTokenIsTradedForItself() public {
        _refused(_paying(0, 0, 1e6, 10_000), TradeGuard.SameToken.selector);
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[0]));
        TradeGuard.Evidence memory none;
        vm.prank(address(account));
        vm.expectPartialRevert(TradeGuard.TokensNotAscending.selector);
        guard.trade(listed, new TradeGuard.Trade[](0), none, vm.getBlockTimestamp());
    }

    function test_theLeastAndTheDeadlineAreKept() public {
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        trades[0].minOut = uint128(_fair(0, 1, 1_000e6) + 1);
        _refused(trades, TradeGuard.TooLittle.selector);
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        vm.expectPartialRevert(TradeGuard.Expired.selector);
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp() - 1);
    }

    function _assertNothingLeft() private view {
        address runner = address(guard.RUNNER());
        for (uint256 i; i < 4; ++i) {
            assertEq(tokens[i].balanceOf(address(guard)), 0, "the guard has tokens");
            assertEq(tokens[i].balanceOf(runner), 0, "the runner has tokens");
            assertEq(tokens[i].allowance(runner, address(route)), 0, "the route has an allowance");
            assertEq(tokens[i].allowance(runner, address(router)), 0, "the router has an allowance");
            assertEq(tokens[i].allowance(runner, address(pool)), 0, "the bridge has an allowance");
        }
    }
}

/// @dev Tries to trade again whenever a token calls it.
contract Reentering {
    TradeGuard private immutable GUARD;
    address private immutable ACCOUNT;
    bytes private _call;
    uint256 public tries;
    uint256 public entered;

    constructor(TradeGuard guard, TestAccount account) {
        GUARD = guard;
        ACCOUNT = address(account);
    }

    function set(bytes calldata call) external {
        _call = call;
    }

    function moved(address, address, uint256) external {
        ++tries;
        (bool direct,) = address(GUARD).call(_call);
        (bool asAccount,) = ACCOUNT.call(abi.encodeWithSignature("call(address,bytes)", address(GUARD), _call));
        if (direct || asAccount) ++entered;
    }
}
