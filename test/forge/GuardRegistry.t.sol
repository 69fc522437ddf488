// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {OddToken, TestFeed} from "./OddTokens.sol";
import {AnyPriceRoute} from "./Venues.sol";

/// @title What widens waits two days in public; what narrows happens at once
contract GuardRegistryTest is GuardFixture {
    function _additions() private returns (bytes[6] memory) {
        address token = address(new OddToken(18));
        address feed = address(new TestFeed(8));
        return [
            abi.encodeCall(GuardRegistry.registerToken, (token, feed, 1 days, 0, 0)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), feed, 1 days, 0, 0)),
            abi.encodeCall(GuardRegistry.registerVenue, (address(new AnyPriceRoute()), GuardRegistry.Venue.ROUTE)),
            abi.encodeCall(GuardRegistry.registerLane, (address(tokens[1]), 10, address(0xBEEF), 18)),
            abi.encodeCall(GuardRegistry.setKeys, (THIEF, THIEF, THIEF)),
            abi.encodeCall(GuardRegistry.setSequencer, (address(0)))
        ];
    }

    function testFuzz_theAdministratorsThiefChangesNothingForTwoDays(uint256 wait) public {
        wait = _within(wait, 0, 30 days);
        bytes[6] memory additions = _additions();
        for (uint256 i; i < additions.length; ++i) {
            vm.warp(START);
            _call(ADMINISTRATOR, additions[i], GuardRegistry.NotScheduled.selector);
            _call(ADMINISTRATOR, abi.encodeCall(GuardRegistry.schedule, (additions[i])), 0);
            vm.warp(START + wait);
            bool isTime = wait >= 2 days && wait <= 16 days;
            // Keys change hands last, so that the others are still the administrator's to make.
            if (i == 4) isTime = false;
            if (i != 4) _call(ADMINISTRATOR, additions[i], isTime ? bytes4(0) : GuardRegistry.NotNow.selector);
            if (isTime) _call(ADMINISTRATOR, additions[i], GuardRegistry.NotScheduled.selector);
        }
    }

    function test_theGuardianCancelsWhatAThiefOfTheAdministratorScheduled() public {
        bytes memory change = abi.encodeCall(GuardRegistry.setKeys, (THIEF, THIEF, THIEF));
        _call(ADMINISTRATOR, abi.encodeCall(GuardRegistry.schedule, (change)), 0);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.cancel, (keccak256(change))), 0);
        vm.warp(START + 3 days);
        _call(ADMINISTRATOR, change, GuardRegistry.NotScheduled.selector);
    }

    function testFuzz_nobodyElseChangesAnything(address caller) public {
        vm.assume(caller != ADMINISTRATOR && caller != GUARDIAN);
        bytes[6] memory additions = _additions();
        for (uint256 i; i < additions.length; ++i) {
            _call(caller, additions[i], GuardRegistry.OnlyAdministrator.selector);
            _call(GUARDIAN, additions[i], GuardRegistry.OnlyAdministrator.selector);
        }
        _call(caller, abi.encodeCall(GuardRegistry.schedule, ("")), GuardRegistry.OnlyAdministrator.selector);
        _call(caller, abi.encodeCall(GuardRegistry.seal, ()), GuardRegistry.OnlyAdministrator.selector);
        _call(caller, abi.encodeCall(GuardRegistry.unpause, ()), GuardRegistry.OnlyAdministrator.selector);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.unpause, ()), GuardRegistry.OnlyAdministrator.selector);
        _call(caller, abi.encodeCall(GuardRegistry.pause, ()), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(GuardRegistry.cancel, (bytes32(0))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(GuardRegistry.removeToken, (address(1))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(GuardRegistry.removeVenue, (address(1))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(GuardRegistry.removeAttestor, ()), GuardRegistry.OnlyGuardian.selector);
    }

    function test_removalsAndPauseHoldAtOnce() public {
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.pause, ()), 0);
        _refused(trades, ReferencePrices.Paused.selector);
        _call(ADMINISTRATOR, abi.encodeCall(GuardRegistry.unpause, ()), 0);
        _trade(trades);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.removeVenue, (address(route))), 0);
        _refused(trades, TradeGuard.VenueNotListed.selector);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.removeToken, (address(tokens[1]))), 0);
        _refused(trades, ReferencePrices.TokenNotListed.selector);
    }

    function test_aTokenIsNeverAVenue() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        fresh.registerToken(address(tokens[0]), address(feeds[0]), 1 days, 0, 0);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        fresh.registerVenue(address(tokens[0]), GuardRegistry.Venue.ROUTE);
        fresh.registerVenue(address(tokens[1]), GuardRegistry.Venue.ROUTE);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        fresh.registerToken(address(tokens[1]), address(feeds[1]), 1 days, 0, 0);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        fresh.registerVenue(address(fresh), GuardRegistry.Venue.ROUTE);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        fresh.registerVenue(THIEF, GuardRegistry.Venue.ROUTE);
    }

    function test_limitsOfEntriesAreKept() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        bytes[7] memory wrong = [
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(feeds[0]), 0, 0, 0)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(feeds[0]), 3 days + 1, 0, 0)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(feeds[0]), 1 days, 1, 0)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(0), 1 hours + 1, 500, 1e18)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(0), 1 hours, 1_001, 1e18)),
            abi.encodeCall(GuardRegistry.registerToken, (address(tokens[0]), address(0), 1 hours, 500, 0)),
            abi.encodeCall(GuardRegistry.setKeys, (address(0), GUARDIAN, GUARDIAN))
        ];
        for (uint256 i; i < wrong.length; ++i) {
            (bool succeeded, bytes memory answer) = address(fresh).call(wrong[i]);
            assertTrue(!succeeded && bytes4(answer) == GuardRegistry.InvalidEntry.selector, "taken");
        }
    }

    function test_noAccountIsInstalledBeforeTheRegistryIsSealed() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        vm.expectPartialRevert(TradeGuard.NotSealed.selector);
        account.install(fresh, _permission(PERMISSION, START - 1, START + 1, 0, 0));
        fresh.seal();
        account.install(fresh, _permission(PERMISSION, START - 1, START + 1, 0, 0));
    }

    function test_theVersionGrowsWithEveryChange() public {
        (, uint64 before,,) = guard.state();
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.pause, ()), 0);
        _call(ADMINISTRATOR, abi.encodeCall(GuardRegistry.unpause, ()), 0);
        _call(GUARDIAN, abi.encodeCall(GuardRegistry.removeToken, (address(tokens[1]))), 0);
        (, uint64 version,,) = guard.state();
        assertEq(version, before + 3, "version");
    }

    /// @dev Zero stands for success.
    function _call(address caller, bytes memory data, bytes4 failure) private {
        vm.prank(caller);
        (bool succeeded, bytes memory answer) = address(guard).call(data);
        assertTrue(succeeded == (failure == 0), succeeded ? "succeeded" : "failed");
        if (!succeeded) assertTrue(bytes4(answer) == failure, "another error");
    }
}
