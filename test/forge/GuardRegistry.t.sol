// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {BoundedFeed, OddToken, TestFeed} from "./OddTokens.sol";
import {AnyPriceRoute} from "./Venues.sol";

/// @title What widens waits two days in public; what narrows happens at once
contract GuardRegistryTest is GuardFixture {
    function _additions() private returns (bytes[8] memory) {
        address token = address(new OddToken(18));
        address feed = address(new TestFeed(8));
        return [
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 1 days, 50, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerToken, (address(tokens[0]), feed, 1 days, 50, feed, 1 days)),
            abi.encodeCall(RegistryChanges.registerVenue, (address(new AnyPriceRoute()), GuardRegistry.Venue.ROUTE)),
            abi.encodeCall(RegistryChanges.registerLane, (address(tokens[1]), 10, address(0xBEEF), 18)),
            abi.encodeCall(RegistryChanges.setKeys, (THIEF, THIEF, THIEF)),
            abi.encodeCall(RegistryChanges.setSequencer, (address(0))),
            abi.encodeCall(RegistryChanges.registerAttested, (address(tokens[3]), 5 minutes, 50, 500, 100e18)),
            abi.encodeCall(RegistryChanges.unpause, ())
        ];
    }

    function testFuzz_theAdministratorsThiefChangesNothingForTwoDays(uint256 wait) public {
        wait = _within(wait, 0, 30 days);
        bytes[8] memory additions = _additions();
        for (uint256 i; i < additions.length; ++i) {
            vm.warp(START);
            _call(ADMINISTRATOR, additions[i], GuardRegistry.NotScheduled.selector);
            _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (additions[i])), 0);
            vm.warp(START + wait);
            bool isTime = wait >= 2 days && wait <= 16 days;
            // Keys change hands last, so that the others are still the administrator's to make.
            if (i == 4) isTime = false;
            if (i != 4) _call(ADMINISTRATOR, additions[i], isTime ? bytes4(0) : GuardRegistry.NotNow.selector);
            if (isTime) _call(ADMINISTRATOR, additions[i], GuardRegistry.NotScheduled.selector);
        }
    }

    function test_theGuardianCancelsWhatAThiefOfTheAdministratorScheduled() public {
        bytes memory change = abi.encodeCall(RegistryChanges.setKeys, (THIEF, THIEF, THIEF));
        _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (change)), 0);
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.cancel, (keccak256(change))), 0);
        vm.warp(START + 3 days);
        _call(ADMINISTRATOR, change, GuardRegistry.NotScheduled.selector);
    }

    function testFuzz_nobodyElseChangesAnything(address caller) public {
        vm.assume(caller != ADMINISTRATOR && caller != GUARDIAN);
        bytes[8] memory additions = _additions();
        for (uint256 i; i < additions.length; ++i) {
            _call(caller, additions[i], GuardRegistry.OnlyAdministrator.selector);
            _call(GUARDIAN, additions[i], GuardRegistry.OnlyAdministrator.selector);
        }
        _call(caller, abi.encodeCall(RegistryChanges.schedule, ("")), GuardRegistry.OnlyAdministrator.selector);
        _call(caller, abi.encodeCall(RegistryChanges.seal, ()), GuardRegistry.OnlyAdministrator.selector);
        _call(caller, abi.encodeCall(RegistryChanges.pause, ()), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(RegistryChanges.cancel, (bytes32(0))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(RegistryChanges.removeToken, (address(1))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(RegistryChanges.removeVenue, (address(1))), GuardRegistry.OnlyGuardian.selector);
        _call(caller, abi.encodeCall(RegistryChanges.removeAttestor, ()), GuardRegistry.OnlyGuardian.selector);
    }

    function test_removalsAndPauseHoldAtOnce() public {
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.pause, ()), 0);
        _refused(trades, ReferencePrices.Paused.selector);
        _unpause();
        _trade(trades);
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.removeVenue, (address(route))), 0);
        _refused(trades, TradeGuard.VenueNotListed.selector);
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.removeToken, (address(tokens[1]))), 0);
        _refused(trades, ReferencePrices.TokenNotListed.selector);
    }

    function test_aTokenIsNeverAVenue() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        _registry(fresh).registerToken(address(tokens[0]), address(feeds[0]), 1 days, 50, address(0), 0);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(address(tokens[0]), GuardRegistry.Venue.ROUTE);
        _registry(fresh).registerVenue(address(tokens[1]), GuardRegistry.Venue.ROUTE);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerToken(address(tokens[1]), address(feeds[1]), 1 days, 50, address(0), 0);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(address(fresh), GuardRegistry.Venue.ROUTE);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(THIEF, GuardRegistry.Venue.ROUTE);
    }

    function test_limitsOfEntriesAreKept() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        (address token, address feed) = (address(tokens[0]), address(feeds[0]));
        address odd = address(new BoundedFeed(8, 5, 4));
        bytes[14] memory wrong = [
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 0, 50, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 3 days + 1, 50, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 1 days, 0, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 1 days, 50, address(0), 1)),
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 1 days, 50, feed, 0)),
            abi.encodeCall(RegistryChanges.registerToken, (token, feed, 1 days, 50, feed, 3 days + 1)),
            abi.encodeCall(RegistryChanges.registerToken, (token, address(0), 1 days, 50, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerToken, (token, odd, 1 days, 50, address(0), 0)),
            abi.encodeCall(RegistryChanges.registerAttested, (token, 5 minutes + 1, 50, 500, 1e18)),
            abi.encodeCall(RegistryChanges.registerAttested, (token, 5 minutes, 0, 500, 1e18)),
            abi.encodeCall(RegistryChanges.registerAttested, (token, 5 minutes, 50, 1_001, 1e18)),
            abi.encodeCall(RegistryChanges.registerAttested, (token, 5 minutes, 50, 0, 1e18)),
            abi.encodeCall(RegistryChanges.registerAttested, (token, 5 minutes, 50, 500, 0)),
            abi.encodeCall(RegistryChanges.setKeys, (address(0), GUARDIAN, GUARDIAN))
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
        _registry(fresh).seal();
        account.install(fresh, _permission(PERMISSION, START - 1, START + 1, 0, 0));
    }

    function test_theVersionGrowsWithEveryChange() public {
        (, uint64 before,,) = guard.state();
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.pause, ()), 0);
        _unpause();
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.removeToken, (address(tokens[1]))), 0);
        _registry(guard).readFeeds(address(tokens[0]));
        (, uint64 version,,) = guard.state();
        assertEq(version, before + 4, "version");
    }

    function test_aPauseEndsTwoDaysAfterItsEndWasAnnounced() public {
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.pause, ()), 0);
        bytes memory change = abi.encodeCall(RegistryChanges.unpause, ());
        _call(ADMINISTRATOR, change, GuardRegistry.NotScheduled.selector);
        _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (change)), 0);
        vm.warp(START + 2 days - 1);
        _call(ADMINISTRATOR, change, GuardRegistry.NotNow.selector);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.Paused.selector);
    }

    /// @dev Whatever stands behind or in its words, a change that is not the cancelled bytes is not made.
    function testFuzz_aCancelledChangeHasNoOtherEncoding(bytes calldata behind, uint256 place, uint256 noise) public {
        bytes memory change =
            abi.encodeCall(RegistryChanges.registerVenue, (address(new AnyPriceRoute()), GuardRegistry.Venue.ROUTE));
        bytes memory variant = bytes.concat(change, behind);
        if (behind.length == 0) {
            // The words' unused bits.
            place = 36 + 32 * (place % 2);
            noise = _within(noise, 1, type(uint64).max) << 184;
            assembly ("memory-safe") {
                let word := add(variant, place)
                mstore(word, or(mload(word), noise))
            }
        }
        _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (change)), 0);
        _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (variant)), 0);
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.cancel, (keccak256(change))), 0);
        vm.warp(START + 2 days);
        vm.prank(ADMINISTRATOR);
        (bool succeeded,) = address(guard).call(variant);
        assertTrue(!succeeded, "made");
    }

    function _unpause() private {
        bytes memory change = abi.encodeCall(RegistryChanges.unpause, ());
        _call(ADMINISTRATOR, abi.encodeCall(RegistryChanges.schedule, (change)), 0);
        vm.warp(vm.getBlockTimestamp() + 2 days);
        _refreshFeeds();
        _call(ADMINISTRATOR, change, 0);
    }

    /// @dev Zero stands for success.
    function _call(address caller, bytes memory data, bytes4 failure) private {
        vm.prank(caller);
        (bool succeeded, bytes memory answer) = address(guard).call(data);
        assertTrue(succeeded == (failure == 0), succeeded ? "succeeded" : "failed");
        if (!succeeded) assertTrue(bytes4(answer) == failure, "another error");
    }
}
