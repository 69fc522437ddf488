// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LossBudget} from "../../contracts/LossBudget.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title Transfers between chains: to the same account, as the same asset, for a bounded price
contract GuardTransfersTest is GuardFixture {
    address private constant REMOTE = address(0xF00D);

    function testFuzz_aTransferOwesTheAccountWhatItSentLessTheLimit(uint256 amount, uint256 bps) public {
        amount = _within(amount, 1e6, 25_000e6);
        bps = _within(bps, 0, 12_000);
        uint256 arriving = amount * 1e12 * bps / 10_000;
        TradeGuard.Transfer memory transfer = _transfer(amount, arriving);
        // At the bound itself the rounding to raw units decides.
        vm.assume(bps != 9_800);
        if (bps < 9_800) return _refusedSend(transfer, TradeGuard.UnfairTrade.selector);
        _send(transfer);
        assertEq(bridge.owed(), arriving, "owed");
        assertEq(bridge.taken(), amount, "taken");
        assertTrue(bridge.recipient() == address(account), "recipient");
        assertTrue(bridge.destinationToken() == REMOTE && bridge.destinationChainId() == 42_161, "destination");
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(bridge)), 0, "allowance");
        assertEq(tokens[0].balanceOf(address(guard.RUNNER())), 0, "kept");
    }

    function test_whatBridgesKeepCountsAgainstTheBudget() public {
        // A quarter of the account at two percent is half a percent of it.
        for (uint256 i; i < 4; ++i) {
            _send(_transfer(6_000e6, 6_000e18 * 9_801 / 10_000));
            tokens[0].mint(address(account), 6_000e6);
        }
        (,,, uint256 left,) = guard.policyOf(address(account));
        assertLe(left, 2e7 - 4 * 1_190_000, "left");
        for (uint256 i; i < 12; ++i) {
            try this.sendMore() {
                tokens[0].mint(address(account), 6_000e6);
            } catch {
                break;
            }
        }
        _refusedSend(_transfer(6_000e6, 6_000e18 * 9_801 / 10_000), LossBudget.BudgetExceeded.selector);
    }

    function sendMore() external {
        _send(_transfer(6_000e6, 6_000e18 * 9_801 / 10_000));
    }

    function testFuzz_onlyListedDestinationsAndBridges(uint256 chainId, address remote) public {
        vm.assume(chainId != 42_161 || remote != REMOTE);
        TradeGuard.Transfer memory transfer = _transfer(1_000e6, 1_000e18);
        (transfer.chainId, transfer.remoteToken) = (chainId, remote);
        _refusedSend(transfer, TradeGuard.LaneNotListed.selector);
        transfer = _transfer(1_000e6, 1_000e18);
        transfer.token = 1;
        _refusedSend(transfer, TradeGuard.LaneNotListed.selector);
        transfer = _transfer(1_000e6, 1_000e18);
        transfer.bridge = address(route);
        _refusedSend(transfer, TradeGuard.VenueNotListed.selector);
    }

    function _transfer(uint256 amount, uint256 arriving) private view returns (TradeGuard.Transfer memory) {
        return TradeGuard.Transfer(address(bridge), 0, uint128(amount), 42_161, REMOTE, uint128(arriving));
    }

    function _send(TradeGuard.Transfer memory transfer) private {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        guard.send(listed, transfer, evidence, vm.getBlockTimestamp());
    }

    function _refusedSend(TradeGuard.Transfer memory transfer, bytes4 failure) private {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        vm.expectPartialRevert(failure);
        guard.send(listed, transfer, evidence, vm.getBlockTimestamp());
    }
}
