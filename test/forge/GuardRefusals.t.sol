// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {GuardPolicy, IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {SettlementRule} from "../../contracts/SettlementRule.sol";
import {WithdrawalExecutor} from "../../contracts/WithdrawalExecutor.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {BoundedFeed, TestFeed} from "./OddTokens.sol";
import {Call} from "./TestAccount.sol";

/// @title Refusals at the edges: what no honest caller asks for
contract GuardRefusalsTest is GuardFixture {
    bytes4 private constant EXECUTE = 0xe9ae5c53;

    function test_aGuardHasAnAdministrator() public {
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        new TradeGuard(address(0), GUARDIAN, IAccountOwners(address(owners)));
    }

    function test_anAccountWithNothingListedTradesNothing() public {
        address[] memory listed = new address[](1);
        listed[0] = address(tokens[0]);
        TradeGuard.Evidence memory none;
        uint256 deadline = vm.getBlockTimestamp();
        vm.prank(THIEF);
        vm.expectPartialRevert(TradeGuard.NothingToLose.selector);
        guard.trade(listed, new TradeGuard.Trade[](0), none, deadline);
    }

    function test_aTransferHasADeadlineAndItsTokenIsOnTheClosedList() public {
        TradeGuard.Transfer memory order =
            TradeGuard.Transfer(address(pool), 0, 1_000e6, 42_161, REMOTE, 1_000e18);
        address[] memory listed = new address[](1);
        listed[0] = address(tokens[0]);
        TradeGuard.Evidence memory evidence;
        uint256 now_ = vm.getBlockTimestamp();
        vm.prank(address(account));
        vm.expectPartialRevert(TradeGuard.Expired.selector);
        guard.send(listed, order, evidence, now_ - 1);
        // A list of one token is its leaf.
        bytes32 other = keccak256(bytes.concat(keccak256(abi.encode(address(tokens[1])))));
        account.install(guard, _permissionWith(PERMISSION, START, 1, abi.encodePacked(other)));
        evidence.proofs = new bytes32[][](1);
        vm.prank(address(account));
        vm.expectPartialRevert(TradeGuard.NotOnClosedList.selector);
        guard.send(listed, order, evidence, now_);
        bytes32 own = keccak256(bytes.concat(keccak256(abi.encode(address(tokens[0])))));
        account.install(guard, _permissionWith(PERMISSION, START + 1, 1, abi.encodePacked(own)));
        vm.prank(address(account));
        guard.send(listed, order, evidence, now_);
        assertEq(pool.taken(), 1_000e6, "sent");
    }

    function test_whatOfNothingArrivesIsNotSold() public {
        tokens[0].keep(10_000);
        _refused(_paying(0, 1, 1_000e6, 10_000), TradeGuard.NothingSold.selector);
    }

    function test_aPermissionThatIsCutShortIsNone() public {
        bytes memory cut = abi.encodePacked(bytes32(PERMISSION), uint40(START), uint40(START + 1), uint16(0), uint16(0));
        vm.expectPartialRevert(GuardPolicy.InvalidPermission.selector);
        account.install(guard, cut);
    }

    function test_nothingIsRevokedAheadOfTime() public {
        uint40 later = uint40(vm.getBlockTimestamp() + 1 hours + 1);
        address owner = vm.addr(OWNER_KEY);
        bytes memory signature = _signature(OWNER_KEY, guard.revocationDigest(address(account), later));
        vm.expectPartialRevert(GuardPolicy.InvalidPermission.selector);
        guard.revoke(address(account), owner, later, signature);
        vm.expectPartialRevert(GuardPolicy.NotSignedByOwner.selector);
        guard.revoke(address(account), owner, later - 2, signature);
    }

    function test_onlyFeedsAreReadAnew() public {
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        _registry(guard).readFeeds(address(tokens[3]));
    }

    function test_anAttestedTokenIsTradedNoMoreOnceTheAttestorIsRemoved() public {
        vm.prank(GUARDIAN);
        _registry(guard).removeAttestor();
        assertTrue(_registry(guard).attestor() == address(0), "attestor");
        (bool succeeded,) = address(this).call(abi.encodeCall(this.tradeAttested, ()));
        assertTrue(!succeeded, "traded");
    }

    function tradeAttested() external {
        _trade(_paying(0, 3, 100e6, 10_000));
    }

    /// @dev By the functions that the guard has answered by the contract that changes it.
    function test_theRegistryAnswersWhatWasRegistered() public view {
        RegistryChanges registry = _registry(guard);
        assertTrue(registry.administrator() == ADMINISTRATOR && registry.guardian() == GUARDIAN, "keys");
        assertTrue(registry.state().sequencer == address(sequencer) && registry.state().isSealed, "state");
        GuardRegistry.Token memory token = registry.tokens(address(tokens[0]));
        assertTrue(token.feed == address(feeds[0]) && token.listing == GuardRegistry.Listing.PAYOUT, "token");
        assertTrue(registry.tokens(address(tokens[1])).listing == GuardRegistry.Listing.TRADED, "another token");
        assertEq(registry.anchors(address(tokens[3])).price, 100e18, "anchor");
        assertTrue(registry.venues(address(router)).kind == GuardRegistry.VenueKind.V2_ROUTER, "venue");
        assertTrue(registry.venues(address(router)).spender == address(router), "spender");
        bytes32 lane = registry.laneOf(address(pool), address(tokens[0]), 42_161, REMOTE);
        assertTrue(registry.lanes(lane).protocol == GuardRegistry.Protocol.ACROSS, "lane");
        assertEq(registry.lanes(lane).fillTime, 4 hours, "time to fill");
        assertEq(registry.scheduled(lane), 0, "scheduled");
        assertTrue(registry.secondFeeds(address(tokens[0])).feed == address(0), "second feed");
        assertEq(registry.bounds(address(feeds[0])).most, 0, "bounds");
        // Called by itself it knows nothing.
        assertTrue(guard.CHANGES().administrator() == address(0), "the part has an administrator");
    }

    function test_anOperationIsAnExecutionAndEndsInNoSale() public {
        bytes4 transfer = bytes4(keccak256("transfer(address,uint256)"));
        _refusesOperation(abi.encodeWithSelector(transfer, THIEF, 1));
        _refusesOperation("");
        Call[] memory sale = new Call[](1);
        sale[0] = Call(address(guard), 0, abi.encodeWithSelector(TradeGuard.liquidate.selector));
        _refusesOperation(abi.encodeWithSelector(EXECUTE, bytes32(uint256(1) << 248), abi.encode(sale)));
    }

    function test_nobodyOwnsWhatNobodySigned() public {
        uint40 now_ = uint40(vm.getBlockTimestamp());
        bytes memory signature = _signature(OWNER_KEY, guard.revocationDigest(address(account), now_));
        vm.expectPartialRevert(GuardPolicy.NotSignedByOwner.selector);
        guard.revoke(address(account), address(0), now_, signature);
    }

    function test_aTokenThatTakesMoreThanItWasAskedForIsNotSold() public {
        tokens[0].setHook(address(this));
        _refused(_paying(0, 1, 1_000e6, 10_000), TradeGuard.TookTooMuch.selector);
    }

    /// @dev In the middle of a transfer the account comes to have half of what it had.
    function moved(address, address, uint256) external {
        tokens[0].rebase(5e17);
    }

    function test_aVenuesOwnRefusalIsPassedOn() public {
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        trades[0].route = "no function of the venue";
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        uint256 deadline = vm.getBlockTimestamp();
        vm.prank(address(account));
        vm.expectRevert();
        guard.trade(listed, trades, evidence, deadline);
    }

    function test_aChangeIsItsWordsAndNothingBehindThem() public {
        bytes memory longer = abi.encodePacked(abi.encodeCall(RegistryChanges.unpause, ()), uint8(0));
        vm.prank(ADMINISTRATOR);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        (bool succeeded,) = address(guard).call(longer);
        assertTrue(succeeded, "the call itself");
    }

    function test_feedsOfTooManyDecimalsAreNoneAndABoundBelowZeroIsZero() public {
        TradeGuard open = new TradeGuard(ADMINISTRATOR, GUARDIAN, IAccountOwners(address(owners)));
        RegistryChanges registry = _registry(open);
        TestFeed fine = new TestFeed(37);
        GuardRegistry.TokenEntry memory entry = _fedBy(address(tokens[0]), address(fine));
        vm.prank(ADMINISTRATOR);
        vm.expectPartialRevert(GuardRegistry.InvalidEntry.selector);
        registry.registerToken(entry);
        entry.feed = address(new BoundedFeed(8, -5, 1e12));
        vm.prank(ADMINISTRATOR);
        registry.registerToken(entry);
        assertEq(registry.bounds(entry.feed).least, 0, "least");
        assertEq(registry.bounds(entry.feed).most, 1e12, "most");
    }

    function test_aComposedPriceIsNeitherNothingNorBeyondAllNumbers() public {
        TestFeed ratio = new TestFeed(0);
        TestFeed coin = new TestFeed(36);
        uint256 now_ = vm.getBlockTimestamp();
        ratio.set(1, now_, now_);
        coin.set(1, now_, now_);
        GuardRegistry.TokenEntry memory entry = _fedBy(address(tokens[1]), address(ratio));
        (entry.second, entry.secondMaxAge, entry.maxAge) = (address(coin), 3 days, 3 days);
        bytes memory change = abi.encodeCall(RegistryChanges.registerToken, (entry));
        vm.prank(ADMINISTRATOR);
        _registry(guard).schedule(change);
        vm.warp(now_ + 2 days);
        _refreshFeeds();
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerToken(entry);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.InvalidPrice.selector);
        int256 largest = int256(uint256(type(uint128).max));
        ratio.set(largest, now_, now_);
        coin.set(largest, now_, now_);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.InvalidPrice.selector);
    }

    function test_thePayoutsTokenIsThereAndNotSold() public {
        SettlementRule rule = guard.SETTLEMENT();
        SettlementRule.Payout memory payout;
        payout.token = address(tokens[0]);
        payout.assets = new WithdrawalExecutor.Asset[](1);
        payout.assets[0] = WithdrawalExecutor.Asset(address(tokens[0]), 10e6);
        WithdrawalExecutor.Asset[] memory none;
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        rule.check(payout, 10e6 - 1, 10e6 - 1, none);
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        rule.check(payout, 10e6, 10e6 - 1, none);
        rule.check(payout, 10e6, 10e6, none);
    }

    function _refusesOperation(bytes memory callData) private {
        PackedUserOperation memory operation;
        (operation.sender, operation.callData) = (address(account), callData);
        vm.expectPartialRevert(GuardPolicy.CallNotAllowed.selector);
        account.ask(guard, bytes32(PERMISSION), operation);
    }
}
