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
        GuardRegistry.TokenEntry memory composed = _fedBy(address(tokens[0]), feed);
        (composed.second, composed.secondMaxAge) = (feed, 1 days);
        return [
            abi.encodeCall(RegistryChanges.registerToken, (_fedBy(token, feed))),
            abi.encodeCall(RegistryChanges.registerToken, (composed)),
            abi.encodeCall(RegistryChanges.registerVenue, (_calledWithData(address(new AnyPriceRoute())))),
            abi.encodeCall(RegistryChanges.registerBridge, (_spoke(1))),
            abi.encodeCall(RegistryChanges.setKeys, (THIEF, THIEF, THIEF)),
            abi.encodeCall(RegistryChanges.setSequencer, (address(0))),
            abi.encodeCall(RegistryChanges.registerToken, (_attested(3, 50))),
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
        _registry(fresh).registerToken(_fed(0, 50));
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(_calledWithData(address(tokens[0])));
        _registry(fresh).registerVenue(_calledWithData(address(tokens[1])));
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerToken(_fed(1, 50));
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(_calledWithData(address(fresh)));
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).registerVenue(_calledWithData(THIEF));
    }

    function test_limitsOfEntriesAreKept() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        for (uint256 i; i < 14; ++i) {
            GuardRegistry.TokenEntry memory wrong = _wrongToken(i);
            vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
            _registry(fresh).registerToken(wrong);
        }
        _registry(fresh).registerToken(_fed(0, 50));
        for (uint256 i; i < 6; ++i) {
            GuardRegistry.VenueEntry memory wrong = _wrongVenue(i);
            vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
            _registry(fresh).registerVenue(wrong);
        }
        for (uint256 i; i < 15; ++i) {
            GuardRegistry.BridgeEntry memory wrong = _wrongBridge(i);
            vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
            _registry(fresh).registerBridge(wrong);
        }
        _registry(fresh).registerBridge(_spoke(0));
        _registry(fresh).registerBridge(_circle(0));
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(fresh).setKeys(address(0), GUARDIAN, GUARDIAN);
    }

    function _wrongToken(uint256 kind) private returns (GuardRegistry.TokenEntry memory entry) {
        entry = kind < 9 ? _fed(0, 50) : _attested(0, 50);
        if (kind == 0) entry.maxAge = 0;
        if (kind == 1) entry.maxAge = 3 days + 1;
        if (kind == 2 || kind == 10) entry.bandBps = 0;
        if (kind == 3) entry.secondMaxAge = 1;
        if (kind == 4 || kind == 5) entry.second = entry.feed;
        if (kind == 5) entry.secondMaxAge = 3 days + 1;
        if (kind == 6) entry.feed = address(new BoundedFeed(8, 5, 4));
        if (kind == 7) entry.maxStepBps = 500;
        if (kind == 8) entry.firstPrice = 1e18;
        if (kind == 9) entry.maxAge = 5 minutes + 1;
        if (kind == 11) entry.maxStepBps = 1_001;
        if (kind == 12) entry.maxStepBps = 0;
        if (kind == 13) entry.firstPrice = 0;
    }

    function _wrongVenue(uint256 kind) private view returns (GuardRegistry.VenueEntry memory entry) {
        entry = _calledWithData(address(route));
        if (kind == 0) entry.kind = GuardRegistry.VenueKind.NONE;
        if (kind == 1) entry.maxLossBps = 1_001;
        if (kind == 2) entry.spender = address(tokens[0]);
        if (kind == 3) entry.spender = THIEF;
        if (kind == 4) entry.venue = THIEF;
        if (kind == 5) (entry.kind, entry.spender) = (GuardRegistry.VenueKind.V2_ROUTER, address(0));
    }

    function _wrongBridge(uint256 kind) private view returns (GuardRegistry.BridgeEntry memory entry) {
        entry = kind < 10 ? _spoke(0) : _circle(0);
        if (kind == 0) entry.bridge = THIEF;
        if (kind == 1) entry.token = address(tokens[1]);
        if (kind == 2) entry.chainId = 0;
        if (kind == 3) entry.chainId = block.chainid;
        if (kind == 4) entry.remoteToken = 0;
        if (kind == 5) entry.remoteDecimals = 37;
        if (kind == 6) entry.remoteToken = bytes32(type(uint256).max);
        if (kind == 7) entry.fillTime = 0;
        if (kind == 8) entry.fillTime = 6 hours + 1;
        if (kind == 9) entry.destination = 0;
        if (kind == 10) entry.destination = uint64(type(uint32).max) + 1;
        if (kind == 11) entry.remoteDecimals = 18;
        if (kind == 12) entry.fillTime = 1;
        if (kind == 13) entry.protocol = GuardRegistry.Protocol.NONE;
        if (kind == 14) entry.bridge = entry.token;
    }

    function test_noAccountIsInstalledBeforeTheRegistryIsSealed() public {
        TradeGuard fresh = new TradeGuard(address(this), GUARDIAN, IAccountOwners(address(owners)));
        vm.expectPartialRevert(TradeGuard.NotSealed.selector);
        account.install(fresh, _permission(PERMISSION, START - 1, START + 1, 0, 0));
        _registry(fresh).seal();
        account.install(fresh, _permission(PERMISSION, START - 1, START + 1, 0, 0));
    }

    function test_theVersionGrowsWithEveryChange() public {
        uint64 before = _registry(guard).state().version;
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.pause, ()), 0);
        _unpause();
        _call(GUARDIAN, abi.encodeCall(RegistryChanges.removeToken, (address(tokens[1]))), 0);
        _registry(guard).readFeeds(address(tokens[0]));
        uint64 version = _registry(guard).state().version;
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
            abi.encodeCall(RegistryChanges.registerVenue, (_calledWithData(address(new AnyPriceRoute()))));
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
