// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {BridgeCalls} from "../../contracts/BridgeCalls.sol";
import {LossBudget} from "../../contracts/LossBudget.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title Transfers between chains: to the account's own, as the same asset, for a bounded price
contract GuardTransfersTest is GuardFixture {
    bytes32 private constant OWN_ON_SOLANA = keccak256("the token account of the owner's sub-account");

    function testFuzz_aTransferOwesTheAccountWhatItSentLessTheLimit(uint256 amount, uint256 bps) public {
        amount = _within(amount, 1e6, 25_000e6);
        bps = _within(bps, 0, 12_000);
        uint256 arriving = amount * 1e12 * bps / 10_000;
        TradeGuard.Transfer memory transfer = _across(amount, arriving);
        // At the bound itself the rounding to raw units decides.
        vm.assume(bps != 9_800);
        if (bps < 9_800) return _refusedSend(transfer, TradeGuard.UnfairTrade.selector);
        _send(transfer);
        assertEq(pool.owed(), arriving, "owed");
        assertEq(pool.taken(), amount, "taken");
        assertTrue(pool.recipient() == _word(address(account)), "recipient");
        assertTrue(pool.depositor() == _word(address(account)), "depositor");
        assertTrue(pool.outputToken() == REMOTE && pool.destinationChainId() == 42_161, "destination");
        assertEq(pool.fillDeadline(), vm.getBlockTimestamp() + 4 hours, "deadline");
        assertTrue(pool.exclusive() == 0 && pool.messageLength() == 0, "exclusive, or with a message");
        _assertNothingLeft();
    }

    function testFuzz_aBurnIsMintedForTheAccountLessTheSignedFee(uint256 amount, uint256 fee) public {
        amount = _within(amount, 1e6, 25_000e6);
        fee = _within(fee, 0, amount);
        vm.assume(fee * 10_000 != amount * 200);
        TradeGuard.Transfer memory transfer = _burn(amount, amount - fee);
        if (fee * 10_000 > amount * 200) {
            // The messenger itself refuses to burn all of it for a fee.
            return fee == amount ? _refusedSend(transfer) : _refusedSend(transfer, TradeGuard.UnfairTrade.selector);
        }
        _send(transfer);
        assertEq(messenger.burnt(), amount, "burnt");
        assertEq(messenger.maxFee(), fee, "fee");
        assertEq(messenger.domain(), 3, "domain");
        assertEq(messenger.threshold(), fee == 0 ? 2_000 : 1_000, "threshold");
        assertTrue(messenger.recipient() == _word(address(account)) && messenger.caller() == 0, "recipient");
        // A quarter of the account, with the bands of one basis point.
        uint256 worth = _worth() + amount * 1e2;
        (,,, uint256 left,) = guard.policyOf(address(account));
        assertLe(left, ALL_OF_THE_BUDGET - fee * 1e2 * 1e9 / worth, "the fee is not charged");
        _assertNothingLeft();
    }

    function testFuzz_moreThanIsBurntIsNotPromised(uint256 more) public {
        more = _within(more, 1, 1_000e6);
        _refusedSend(_burn(1_000e6, 1_000e6 + more), BridgeCalls.MoreThanSent.selector);
    }

    /// @dev Of a chain where accounts have other addresses, the owner's permission names the recipient.
    function test_onOtherFamiliesTheOwnerNamesTheRecipient() public {
        _refusedSend(_toSolana(), TradeGuard.RecipientNotSigned.selector);
        _install(START, abi.encodePacked(uint64(SOLANA), OWN_ON_SOLANA));
        _send(_toSolana());
        assertTrue(messenger.recipient() == OWN_ON_SOLANA, "recipient");
        assertEq(messenger.domain(), 5, "domain");
        // Chains that it does not name are as before.
        _send(_burn(1_000e6, 1_000e6));
        assertTrue(messenger.recipient() == _word(address(account)), "recipient of the other chain");
        // The next permission begins without any recipient.
        account.install(guard, _permission(PERMISSION, START + 1, START + 90 days, 0, 0));
        _refusedSend(_toSolana(), TradeGuard.RecipientNotSigned.selector);
        _install(START + 2, abi.encodePacked(uint64(7), OWN_ON_SOLANA));
        _refusedSend(_toSolana(), TradeGuard.RecipientNotSigned.selector);
    }

    function test_theOwnerMayNameAnotherRecipientOnAChainOfTheSameFamily() public {
        bytes32 other = bytes32(uint256(0xC01D));
        _install(START, abi.encodePacked(uint64(SOLANA), OWN_ON_SOLANA, uint64(42_161), other));
        _send(_burn(1_000e6, 1_000e6));
        assertTrue(messenger.recipient() == other, "recipient of a burn");
        _send(_across(1_000e6, 1_000e18));
        assertTrue(pool.recipient() == other, "recipient of a deposit");
        assertTrue(pool.depositor() == _word(address(account)), "depositor");
    }

    function test_whatBridgesKeepCountsAgainstTheBudget() public {
        // A quarter of the account at two percent is half a percent of it.
        for (uint256 i; i < 4; ++i) {
            _send(_across(6_000e6, 6_000e18 * 9_801 / 10_000));
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
        _refusedSend(_across(6_000e6, 6_000e18 * 9_801 / 10_000), LossBudget.BudgetExceeded.selector);
    }

    /// @dev A thief who is the relayer himself, or pays Circle: what he sends away arrives, less the budget.
    function test_whoSendsToAndFroLosesTheAccountTwoPercentAtOnceAndFourInSevenDays() public {
        uint256 lost = _drainOverBridges();
        assertLe(lost, 2_000e8, "more than the budget at once");
        assertLe(1_900e8, lost, "the attack took nothing worth a test");
        for (uint256 day; day < 7; ++day) {
            vm.warp(vm.getBlockTimestamp() + 1 days);
            _refreshFeeds();
            lost += _drainOverBridges();
        }
        assertLe(lost, 4_000e8, "more than twice the budget in seven days");
        assertLe(3_800e8, lost, "the budget came back slower than is said");
    }

    /// @dev In US dollars of 8 decimals. What arrives is sent back for nothing.
    function _drainOverBridges() private returns (uint256 lost) {
        for (uint256 amount = 24_000e6; amount > 100e6;) {
            uint256 fee = amount * 199 / 10_000;
            try this.burn(amount, fee) {
                lost += fee * 1e2;
                tokens[0].mint(address(account), amount - fee);
            } catch {
                amount /= 2;
            }
        }
    }

    function burn(uint256 amount, uint256 fee) external {
        _send(_burn(amount, amount - fee));
    }

    function sendMore() external {
        _send(_across(6_000e6, 6_000e18 * 9_801 / 10_000));
    }

    function testFuzz_onlyListedDestinationsAndBridges(uint256 chainId, bytes32 remote) public {
        vm.assume(chainId != 42_161 || remote != REMOTE);
        TradeGuard.Transfer memory transfer = _across(1_000e6, 1_000e18);
        (transfer.chainId, transfer.remoteToken) = (chainId, remote);
        _refusedSend(transfer, TradeGuard.BridgeNotListed.selector);
        transfer = _across(1_000e6, 1_000e18);
        transfer.token = 1;
        _refusedSend(transfer, TradeGuard.BridgeNotListed.selector);
        transfer = _across(1_000e6, 1_000e18);
        transfer.bridge = address(route);
        _refusedSend(transfer, TradeGuard.BridgeNotListed.selector);
    }

    function test_aRemovedBridgeIsClosedAtOnce() public {
        _send(_across(1_000e6, 1_000e18));
        vm.prank(GUARDIAN);
        _registry(guard).removeBridge(address(pool), address(tokens[0]), 42_161, REMOTE);
        _refusedSend(_across(1_000e6, 1_000e18), TradeGuard.BridgeNotListed.selector);
        _send(_burn(1_000e6, 1_000e6));
    }

    function _install(uint256 issuedAt, bytes memory recipients) private {
        account.install(guard, _permissionWith(PERMISSION, issuedAt, 8, recipients));
    }

    function _word(address subject) private pure returns (bytes32) {
        return bytes32(uint256(uint160(subject)));
    }

    function _assertNothingLeft() private view {
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(pool)), 0, "allowance");
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(messenger)), 0, "allowance");
        assertEq(tokens[0].balanceOf(address(guard.RUNNER())), 0, "kept");
    }

    function _across(uint256 amount, uint256 arriving) private view returns (TradeGuard.Transfer memory) {
        return TradeGuard.Transfer(address(pool), 0, uint128(amount), 42_161, REMOTE, uint128(arriving));
    }

    function _burn(uint256 amount, uint256 arriving) private view returns (TradeGuard.Transfer memory) {
        return TradeGuard.Transfer(address(messenger), 0, uint128(amount), 42_161, REMOTE, uint128(arriving));
    }

    function _toSolana() private view returns (TradeGuard.Transfer memory) {
        return TradeGuard.Transfer(address(messenger), 0, 1_000e6, SOLANA, SOLANA_MINT, 1_000e6);
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

    /// @dev By whatever it is.
    function _refusedSend(TradeGuard.Transfer memory transfer) private {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        vm.expectRevert();
        guard.send(listed, transfer, evidence, vm.getBlockTimestamp());
    }
}
