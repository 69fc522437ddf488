// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {SettlementRule} from "../../contracts/SettlementRule.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {WithdrawalExecutor} from "../../contracts/WithdrawalExecutor.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title What an agent may make of an owner's liquidating withdrawal
contract GuardSettlementsTest is GuardFixture {
    bytes4 private constant EXECUTE = 0xe9ae5c53;
    uint256 private constant DOLLAR = 1e6;

    function testFuzz_whatIsKeptIsWhatWasThereLessWhatTheOwnerSigned(uint256 held, uint256 signed, uint256 keep)
        public
    {
        held = _hold(held);
        signed = _within(signed, 0, 2 * held);
        keep = _within(keep, 0, 2 * held + 3 * DOLLAR);
        uint256 most = signed < held ? held - signed : 0;
        bool isRight = keep <= most && keep + most / 100 + DOLLAR >= most;
        if (!isRight) vm.expectPartialRevert(SettlementRule.WrongKeep.selector);
        _ask(_settle(0, signed, keep));
    }

    function testFuzz_whatArrivesMeanwhileUpToAHundredthAndADollarRefusesNothing(uint256 held, uint256 more) public {
        held = _hold(held);
        bytes memory call = _settle(1, 5, held);
        more = _within(more, 0, held / 100 + DOLLAR);
        tokens[0].mint(address(account), more);
        _ask(call);
    }

    function testFuzz_noOtherTokenIsPaidWhateverIsKept(uint256 token, uint256 keep) public {
        token = _within(token, 1, 3);
        vm.expectPartialRevert(SettlementRule.NotForPayout.selector);
        _ask(_settleIn(address(tokens[token]), 1, 5, keep));
    }

    function test_aTokenIsPaidNoMoreAtOnceWhenTheGuardianRemovesItsLane() public {
        bytes memory call = _settle(1, 5, tokens[0].balanceOf(address(account)));
        _ask(call);
        vm.prank(GUARDIAN);
        guard.removeLane(address(tokens[0]), 0, address(owners));
        vm.expectPartialRevert(SettlementRule.NotForPayout.selector);
        _ask(call);
    }

    function test_nothingIsSentByTheLaneOfPayouts() public {
        TradeGuard.Transfer memory transfer =
            TradeGuard.Transfer(address(bridge), 0, uint128(DOLLAR), 0, address(owners), uint128(DOLLAR));
        address[] memory listed = new address[](1);
        listed[0] = address(tokens[0]);
        TradeGuard.Evidence memory evidence;
        vm.prank(address(account));
        vm.expectPartialRevert(TradeGuard.LaneNotListed.selector);
        guard.send(listed, transfer, evidence, vm.getBlockTimestamp());
    }

    function testFuzz_whatIsNoSettlementAtAllIsRefused(bytes calldata noise) public {
        bytes memory call = bytes.concat(WithdrawalExecutor.settle.selector, noise);
        (bool succeeded,) = address(this).call(abi.encodeCall(this.ask, (call)));
        assertTrue(!succeeded || noise.length >= 256, "passed");
    }

    function ask(bytes calldata call) external {
        _ask(call);
    }

    /// @dev Leaves the account so much of the first token.
    function _hold(uint256 seed) private returns (uint256 held) {
        held = _within(seed, 0, 25_000 * DOLLAR);
        uint256 rest = tokens[0].balanceOf(address(account)) - held;
        vm.prank(address(account));
        tokens[0].transfer(address(0xDEAD), rest);
        assertEq(tokens[0].balanceOf(address(account)), held, "held");
    }

    function _settle(uint256 asset, uint256 signed, uint256 keep) private view returns (bytes memory) {
        return _settleIn(address(tokens[0]), asset, signed, keep);
    }

    /// @dev The owner signed one asset, and perhaps another one beside it.
    function _settleIn(address token, uint256 asset, uint256 signed, uint256 keep) private view returns (bytes memory) {
        WithdrawalExecutor.Asset[] memory assets = new WithdrawalExecutor.Asset[](2);
        assets[0] = WithdrawalExecutor.Asset(address(tokens[asset]), signed);
        assets[1] = WithdrawalExecutor.Asset(address(tokens[2]), 7);
        WithdrawalExecutor.Authorization memory authorization =
            WithdrawalExecutor.Authorization("pf_1", address(0xCAFE), assets, bytes32(uint256(9)), START + 600);
        return abi.encodeCall(WithdrawalExecutor.settle, (authorization, new bytes(65), token, keep));
    }

    function _ask(bytes memory call) private {
        PackedUserOperation memory operation;
        operation.sender = address(account);
        operation.callData =
            abi.encodeWithSelector(EXECUTE, bytes32(0), abi.encodePacked(address(owners), uint256(0), call));
        account.ask(guard, bytes32(PERMISSION), operation);
    }
}
