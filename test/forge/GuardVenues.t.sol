// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {OddToken} from "./OddTokens.sol";
import {AnyPriceRouter, Collector, PaidInAdvance, SpendingElsewhere} from "./Venues.sol";

/// @title Venues of several kinds, each a row of the registry
contract GuardVenuesTest is GuardFixture {
    uint256 private constant AMOUNT = 1_000e6;

    /// @dev An aggregator whose allowances another contract spends.
    function test_whoTakesWhatIsSoldMayBeAnotherThanTheVenue() public {
        Collector collector = new Collector();
        SpendingElsewhere venue = new SpendingElsewhere(collector);
        _add(GuardRegistry.VenueEntry(address(venue), address(collector), GuardRegistry.VenueKind.CALLDATA, 0, 0));
        uint256 pay = _fair(0, 1, AMOUNT);
        bytes memory data = abi.encodeCall(SpendingElsewhere.swap, (tokens[0], tokens[1], AMOUNT, pay));
        _trade(_over(address(venue), data));
        assertEq(tokens[1].balanceOf(address(account)), 10e18 + pay, "bought");
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(collector)), 0, "allowance");
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(venue)), 0, "allowance of the venue");
        // Its spender is nobody that may be called.
        bytes memory theft = abi.encodeCall(Collector.take, (tokens[0], address(account), THIEF, AMOUNT));
        _refused(_over(address(collector), theft), TradeGuard.VenueNotListed.selector);
    }

    /// @dev A router that trades what it has, as Uniswap's universal one does without Permit2.
    function test_aVenueMayBePaidBeforeItIsCalled() public {
        PaidInAdvance venue = new PaidInAdvance();
        _add(GuardRegistry.VenueEntry(address(venue), address(0), GuardRegistry.VenueKind.CALLDATA, 0, 0));
        uint256 pay = _fair(0, 1, AMOUNT);
        _trade(_over(address(venue), abi.encodeCall(PaidInAdvance.swap, (tokens[0], tokens[1], AMOUNT, pay))));
        assertEq(tokens[1].balanceOf(address(account)), 10e18 + pay, "bought");
        // What it keeps counts as sold.
        TradeGuard.Trade[] memory idle =
            _over(address(venue), abi.encodeCall(PaidInAdvance.swap, (tokens[0], tokens[1], 0, 0)));
        _refused(idle, TradeGuard.UnfairTrade.selector);
    }

    /// @dev A fork of Uniswap v2 beside the first router; what its pools charge shows in what they pay alone.
    function testFuzz_routersOfSeveralForksAreCalledByTheGuard(uint256 feeBps) public {
        feeBps = _within(feeBps, 0, 199);
        AnyPriceRouter fork = new AnyPriceRouter();
        _add(_v2Router(address(fork)));
        for (uint256 i; i < 2; ++i) {
            AnyPriceRouter venue = i == 0 ? router : fork;
            uint256 rate = _fair(0, 1, units[0]) * 1e18 / units[0];
            venue.set(address(tokens[0]), address(tokens[1]), rate * (10_000 - i * feeBps) / 10_000);
            uint256 before = tokens[1].balanceOf(address(account));
            TradeGuard.Trade[] memory trades = _over(address(venue), "");
            _trade(trades);
            uint256 fair = _fair(0, 1, AMOUNT) * (10_000 - i * feeBps) / 10_000;
            assertLe(fair, tokens[1].balanceOf(address(account)) - before + 1e9, "bought");
        }
    }

    function testFuzz_aVenuesOwnLimitOfLossIsKept(uint16 most, uint256 bps) public {
        most = uint16(_within(most, 1, 1_000));
        bps = _within(bps, 9_700, 10_000);
        GuardRegistry.VenueEntry memory entry = _calledWithData(address(route));
        entry.maxLossBps = most;
        _add(entry);
        uint256 limit = most < 200 ? most : 200;
        vm.assume(bps != 10_000 - limit);
        TradeGuard.Trade[] memory trades = _paying(0, 1, AMOUNT, bps);
        if (bps > 10_000 - limit) _trade(trades);
        else _refused(trades, TradeGuard.UnfairTrade.selector);
    }

    function testFuzz_aVenuesOwnLimitOfSizeIsKept(uint64 most, uint256 dollars) public {
        most = uint64(_within(most, 1, 10_000));
        dollars = _within(dollars, 1, 10_000);
        GuardRegistry.VenueEntry memory entry = _calledWithData(address(route));
        entry.maxUsd = most;
        _add(entry);
        TradeGuard.Trade[] memory trades = _paying(0, 1, dollars * 1e6, 10_000);
        if (dollars <= most) _trade(trades);
        else _refused(trades, TradeGuard.VenueLimit.selector);
    }

    function _over(address venue, bytes memory data) private pure returns (TradeGuard.Trade[] memory trades) {
        trades = new TradeGuard.Trade[](1);
        trades[0] = TradeGuard.Trade(venue, 0, 1, uint128(AMOUNT), 0, data);
    }

    function _add(GuardRegistry.VenueEntry memory entry) private {
        bytes memory change = abi.encodeCall(RegistryChanges.registerVenue, (entry));
        vm.prank(ADMINISTRATOR);
        _registry(guard).schedule(change);
        vm.warp(vm.getBlockTimestamp() + 2 days);
        _refreshFeeds();
        vm.prank(ADMINISTRATOR);
        (bool succeeded,) = address(guard).call(change);
        assertTrue(succeeded, "not registered");
    }
}
