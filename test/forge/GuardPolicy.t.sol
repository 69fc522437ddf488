// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GuardPolicy} from "../../contracts/GuardPolicy.sol";
import {LossBudget} from "../../contracts/LossBudget.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {SettlementRule} from "../../contracts/SettlementRule.sol";
import {TradeFees} from "../../contracts/TradeFees.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {WithdrawalExecutor} from "../../contracts/WithdrawalExecutor.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {OddToken} from "./OddTokens.sol";
import {Call, TestAccount} from "./TestAccount.sol";

/// @title What the agent's key may do at all
contract GuardPolicyTest is GuardFixture {
    bytes32 private constant ONE_CALL = bytes32(0);
    bytes32 private constant BATCH = bytes32(uint256(1) << 248);
    bytes4 private constant EXECUTE = 0xe9ae5c53;

    function test_theFewCallsArePermittedAloneAndTogetherUntilTheirTime() public {
        Call[] memory calls = _permitted();
        uint256 until = uint256(START + 90 days) << 160;
        assertEq(_ask(_batch(calls)), until, "together");
        for (uint256 i; i < 4; ++i) assertEq(_ask(_one(calls[i])), until, "alone");
    }

    function testFuzz_aWithdrawalIsSettledRightAfterItsOwnSalesAndNeverOtherwise(uint256 keep, uint256 amount) public {
        Call[] memory calls = _permitted();
        (Call memory liquidation, Call memory settlement) = (calls[4], calls[5]);
        _refuses(_one(liquidation), GuardPolicy.CallNotAllowed.selector);
        _refuses(_one(settlement), GuardPolicy.CallNotAllowed.selector);
        (calls[4], calls[3]) = (calls[3], liquidation);
        _refuses(_batch(calls), GuardPolicy.CallNotAllowed.selector);
        Call[] memory pair = new Call[](2);
        (pair[0], pair[1]) = (settlement, liquidation);
        _refuses(_batch(pair), GuardPolicy.CallNotAllowed.selector);
        (pair[0], pair[1]) = (liquidation, liquidation);
        _refuses(_batch(pair), GuardPolicy.CallNotAllowed.selector);
        (pair[0], pair[1]) = (liquidation, settlement);
        _ask(_batch(pair));
        uint256 kept = tokens[0].balanceOf(address(account));
        vm.assume(keep != kept && amount != 5);
        bytes4 another = SettlementRule.AnotherPayout.selector;
        pair[1].data = _settlementOf(5, address(tokens[0]), keep);
        _refuses(_batch(pair), another);
        pair[1].data = _settlementOf(amount, address(tokens[0]), kept);
        _refuses(_batch(pair), another);
        pair[1].data = _settlementOf(5, address(tokens[1]), kept);
        _refuses(_batch(pair), another);
        pair[1] = Call(settlement.target, 1, settlement.data);
        _refuses(_batch(pair), GuardPolicy.CallNotAllowed.selector);
    }

    function testFuzz_oneForbiddenCallForbidsAll(uint256 place, uint256 kind, address target, bytes calldata data)
        public
    {
        Call memory wrong = _forbidden(_within(kind, 0, 11), target, data);
        vm.assume(!_isPermitted(wrong));
        Call[] memory calls = _permitted();
        calls[place % calls.length] = wrong;
        _refuses(_batch(calls), GuardPolicy.CallNotAllowed.selector);
        _refuses(_one(wrong), GuardPolicy.CallNotAllowed.selector);
    }

    /// @dev Whatever bytes the policy accepts, an account that reads them in place makes permitted calls only.
    function testFuzz_policyAndAccountReadTheSameCalls(
        bytes calldata noise,
        uint256[2] calldata places,
        uint256[2] calldata words
    ) public {
        bytes memory callData = bytes.concat(_batch(_permitted()), noise);
        for (uint256 i; i < 2; ++i) {
            // A word of the layout becomes a small number, which may well be a place, or any number.
            uint256 place = 4 + 32 * (places[i] % (callData.length / 32));
            if (place + 32 > callData.length) continue;
            uint256 word = words[i] % 3 == 0 ? words[i] : words[i] % 1_024;
            assembly ("memory-safe") {
                mstore(add(add(callData, 32), place), word)
            }
        }
        try account.ask(guard, bytes32(PERMISSION), _operation(callData)) returns (uint256) {
            (bool succeeded, bytes memory answer) = address(account).call(callData);
            if (!succeeded) return;
            TestAccount.Reading[] memory made = abi.decode(answer, (TestAccount.Reading[]));
            for (uint256 i; i < made.length; ++i) {
                Call memory call = Call(made[i].target, made[i].value, made[i].data);
                if (call.target == address(owners)) {
                    bool isSettled = i > 0 && call.value == 0 && _isSettled(made[i - 1].data, call.data);
                    assertTrue(isSettled, "settled otherwise");
                } else if (call.target == address(guard) && bytes4(call.data) == TradeGuard.liquidate.selector) {
                    assertTrue(i + 1 < made.length && made[i + 1].target == address(owners), "sold for nobody");
                } else {
                    assertTrue(_isPermitted(call), "the account would make another call");
                }
            }
        } catch {}
    }

    function testFuzz_onlyExecuteOfOneCallOrOfABatchThatHoldsTogether(bytes4 selector, bytes32 mode) public {
        bytes memory execution = abi.encode(_permitted());
        if (selector != EXECUTE) {
            _refuses(abi.encodeWithSelector(selector, BATCH, execution), GuardPolicy.CallNotAllowed.selector);
        }
        if (mode != BATCH && mode != ONE_CALL) {
            _refuses(abi.encodeWithSelector(EXECUTE, mode, execution), GuardPolicy.CallNotAllowed.selector);
        }
        _refuses("", GuardPolicy.CallNotAllowed.selector);
    }

    function testFuzz_theAccountsNativeMoneyIsNoFee(bytes32 fees) public {
        PackedUserOperation memory operation = _operation(_batch(_permitted()));
        operation.gasFees = fees;
        if (fees != 0) vm.expectPartialRevert(GuardPolicy.FeesNotAllowed.selector);
        account.ask(guard, bytes32(PERMISSION), operation);
    }

    function testFuzz_otherPermissionsAreRemovedAndNothingElseOfTheAccount(bytes21 id, bytes4 selector) public {
        bytes4 uninstall = bytes4(keccak256("uninstallValidation(bytes21,bytes,bytes)"));
        Call memory call = Call(address(account), 0, abi.encodeWithSelector(uninstall, id, new bytes(7), new bytes(0)));
        bool isOther = id[0] == 0x02 && bytes4(bytes21(id << 8)) != PERMISSION;
        if (isOther) _ask(_one(call));
        else _refuses(_one(call), GuardPolicy.CallNotAllowed.selector);
        bytes21 other = bytes21(bytes.concat(bytes1(0x02), bytes4(0x99999999)));
        call.data = abi.encodeWithSelector(uninstall, other, new bytes(7), new bytes(0));
        _ask(_one(call));
        call.data = abi.encodeWithSelector(uninstall, bytes21(bytes.concat(bytes1(0x02), PERMISSION)), "", "");
        _refuses(_one(call), GuardPolicy.CallNotAllowed.selector);
        call.data = abi.encodeWithSelector(uninstall, bytes21(bytes.concat(bytes1(0x01), bytes4(0x99999999))), "", "");
        _refuses(_one(call), GuardPolicy.CallNotAllowed.selector);
        if (selector == uninstall) return;
        call.data = abi.encodeWithSelector(selector, other, new bytes(7), new bytes(0));
        _refuses(_one(call), GuardPolicy.CallNotAllowed.selector);
    }

    function test_theAgentSignsNoMessages() public view {
        assertEq(guard.checkSignaturePolicy(bytes32(PERMISSION), THIEF, bytes32(0), ""), 1, "signed");
        assertTrue(guard.isModuleType(5) && !guard.isModuleType(1) && !guard.isModuleType(2), "type");
    }

    function testFuzz_aPermissionReplacesOnlyAnEarlierOne(uint256 issuedAt) public {
        issuedAt = _within(issuedAt, START - 2 hours, START + 2 hours);
        bytes memory next = _permission(0x55667788, issuedAt, issuedAt + 1 days, 0, 0);
        if (issuedAt > START + 1 hours) vm.expectPartialRevert(GuardPolicy.InvalidPermission.selector);
        else if (issuedAt < START) vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        account.install(guard, next);
        if (issuedAt < START || issuedAt > START + 1 hours) return;
        // The earlier one is over, and does not come back.
        _refuses(_batch(_permitted()), GuardPolicy.PermissionNotLive.selector);
        vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        account.install(guard, _permission(PERMISSION, START - 1, START + 90 days, 0, 0));
    }

    function testFuzz_limitsAreWithinTheWidestAndTimeWithinAYear(uint16 tradeBps, uint16 budgetBps, uint256 days_)
        public
    {
        days_ = _within(days_, 1, 800);
        bytes memory data = _permission(0x55667788, START, START + days_ * 1 days, tradeBps, budgetBps);
        bool isSane = tradeBps <= 1_000 && budgetBps <= 1_000 && days_ <= 366;
        if (!isSane) vm.expectPartialRevert(GuardPolicy.InvalidPermission.selector);
        account.install(guard, data);
        if (!isSane) return;
        (, uint256 trade, uint256 budget,,) = guard.policyOf(address(account));
        assertEq(trade, tradeBps == 0 ? 200 : tradeBps, "trade");
        assertEq(budget, budgetBps == 0 ? 200 : budgetBps, "budget");
    }

    function testFuzz_limitsAreTightenedByTheAgentAndWidenedByTheOwnerAlone(uint16 tradeBps, uint16 budgetBps) public {
        bool isTighter = tradeBps > 0 && tradeBps <= 200 && budgetBps > 0 && budgetBps <= 200;
        vm.prank(address(account));
        if (!isTighter) vm.expectPartialRevert(LossBudget.NotTighter.selector);
        guard.tighten(tradeBps, budgetBps);
        if (!isTighter) return;
        vm.prank(address(account));
        vm.expectPartialRevert(LossBudget.NotTighter.selector);
        guard.tighten(tradeBps + 1, budgetBps);
        vm.prank(address(account));
        vm.expectPartialRevert(LossBudget.NotTighter.selector);
        guard.tighten(tradeBps, budgetBps + 1);
        account.install(guard, _permission(0x55667788, START, START + 1 days, 300, 300));
        (, uint256 trade, uint256 budget,,) = guard.policyOf(address(account));
        assertTrue(trade == 300 && budget == 300, "the owner's");
    }

    function testFuzz_theOwnersSignedWordEndsIt(uint256 key, uint256 issuedBefore) public {
        key = key % 2 == 0 ? OWNER_KEY : _within(key, 1, 1e30);
        issuedBefore = _within(issuedBefore, START - 2 hours, START + 2 hours);
        bytes32 digest = guard.revocationDigest(address(account), uint40(issuedBefore));
        bytes memory signature = _signature(key, digest);
        bytes4 failure;
        if (issuedBefore > START + 1 hours) failure = GuardPolicy.InvalidPermission.selector;
        else if (key != OWNER_KEY) failure = GuardPolicy.NotSignedByOwner.selector;
        else if (issuedBefore < START - 1) failure = GuardPolicy.NotTheLatest.selector;
        if (failure != 0) vm.expectPartialRevert(failure);
        guard.revoke(address(account), vm.addr(OWNER_KEY), uint40(issuedBefore), signature);
        if (failure == 0) _refuses(_batch(_permitted()), GuardPolicy.PermissionNotLive.selector);
    }

    function test_afterTheOwnersWordNothingIssuedBeforeIsGoodAnyMore() public {
        bytes memory signature = _signature(OWNER_KEY, guard.revocationDigest(address(account), uint40(START)));
        vm.chainId(10);
        vm.prank(THIEF);
        guard.revoke(address(account), vm.addr(OWNER_KEY), uint40(START), signature);
        _refuses(_batch(_permitted()), GuardPolicy.PermissionNotLive.selector);
        vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        account.install(guard, _permission(0x55667788, START, START + 1 days, 0, 0));
        vm.warp(START + 1);
        account.install(guard, _permission(0x55667788, START + 1, START + 1 days, 0, 0));
        // The word is of its time: it does not end what was issued later.
        vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        guard.revoke(address(account), vm.addr(OWNER_KEY), uint40(START), signature);
    }

    function test_theOwnersWordHoldsForAnAccountThatIsNotMadeYet() public {
        TestAccount later = new TestAccount();
        address owner = vm.addr(OWNER_KEY);
        bytes32 digest = guard.revocationDigest(address(later), uint40(START));
        guard.revoke(address(later), owner, uint40(START), _signature(OWNER_KEY, digest));
        // Somebody else's word for the same account is of his own permissions alone.
        bytes32 other = guard.revocationDigest(address(later), uint40(START + 60));
        guard.revoke(address(later), vm.addr(0xBAD), uint40(START + 60), _signature(0xBAD, other));
        owners.set(address(later), owner);
        vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        later.install(guard, _permission(PERMISSION, START, START + 1 days, 0, 0));
        later.install(guard, _permission(PERMISSION, START + 1, START + 1 days, 0, 0));
        vm.expectPartialRevert(GuardPolicy.NotTheLatest.selector);
        guard.revoke(address(later), owner, uint40(START), _signature(OWNER_KEY, digest));
        guard.revoke(address(later), vm.addr(0xBAD), uint40(START + 60), _signature(0xBAD, other));
        assertTrue(guard.isInitialized(address(later)), "ended by somebody else");
    }

    function test_aRenewalThatWaitsToBeInstalledIsNoSecondBudget() public {
        uint256 worth = _worth();
        this.drain();
        assertLe(_worth() * 10_000, worth * 9_820, "the attack took nothing worth a test");
        account.install(guard, _permission(0x22222222, START, START + 180 days, 0, 0));
        this.drain();
        assertLe(worth * 9_800, _worth() * 10_000, "lost more than one budget");
        // A wider one that the owner signs is wider by what is more in it.
        account.install(guard, _permission(0x33333333, START + 1, START + 180 days, 0, 300));
        this.drain();
        assertLe(worth * 9_700, _worth() * 10_000, "lost more than the wider budget");
        assertLe(_worth() * 10_000, worth * 9_720, "the wider budget is none");
    }

    function drain() external {
        for (uint256 i; i < 90; ++i) {
            (uint256 sell, uint256 buy) = i % 2 == 0 ? (uint256(0), uint256(1)) : (uint256(1), uint256(0));
            uint256 amount = tokens[sell].balanceOf(address(account));
            try this.tradeAtTheLimit(sell, buy, amount) {} catch {
                try this.tradeAtTheLimit(sell, buy, amount / 8) {} catch {
                    try this.tradeAtTheLimit(sell, buy, amount / 64) {} catch {}
                }
            }
        }
    }

    function tradeAtTheLimit(uint256 sell, uint256 buy, uint256 amount) external {
        _trade(_paying(sell, buy, amount, 9_801));
    }

    function test_anUninstalledPermissionIsOver() public {
        account.uninstall(guard, abi.encodePacked(bytes32(bytes4(0x99999999))));
        _ask(_batch(_permitted()));
        account.uninstall(guard, abi.encodePacked(bytes32(PERMISSION)));
        _refuses(_batch(_permitted()), GuardPolicy.PermissionNotLive.selector);
        assertTrue(!guard.isInitialized(address(account)), "initialized");
    }

    function testFuzz_aClosedListIsKept(uint256 seed) public {
        bytes32[2] memory leaves = [_leaf(0), _leaf(1)];
        bytes32 root = leaves[0] < leaves[1]
            ? keccak256(abi.encodePacked(leaves[0], leaves[1]))
            : keccak256(abi.encodePacked(leaves[1], leaves[0]));
        account.install(guard, _permissionWith(0x55667788, START, 1, abi.encodePacked(root)));
        uint256 buy = _within(seed, 0, 3);
        TradeGuard.Trade[] memory trades = _paying(buy == 2 ? 1 : 2, buy, units[buy == 2 ? 1 : 2] / 10, 10_000);
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        evidence.proofs = new bytes32[][](1);
        evidence.proofs[0] = new bytes32[](1);
        evidence.proofs[0][0] = leaves[buy == 0 ? 1 : 0];
        address[] memory listed = _all();
        vm.prank(address(account));
        if (buy > 1) vm.expectPartialRevert(TradeGuard.NotOnClosedList.selector);
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp());
    }

    function _leaf(uint256 token) private view returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(address(tokens[token])))));
    }

    function _permitted() private view returns (Call[] memory calls) {
        calls = new Call[](6);
        calls[0] = Call(address(tokens[0]), 0, abi.encodeCall(OddToken.approve, (address(guard), 5)));
        calls[1] = Call(address(guard), 0, abi.encodeWithSelector(TradeGuard.trade.selector, 1));
        calls[2] = Call(address(guard), 0, abi.encodeWithSelector(TradeGuard.send.selector, 2));
        calls[3] = Call(address(guard), 0, abi.encodeCall(LossBudget.tighten, (100, 100)));
        uint256 keep = tokens[0].balanceOf(address(account));
        SettlementRule.Payout memory payout = SettlementRule.Payout(_signedAssets(5), address(tokens[0]), keep);
        TradeGuard.Evidence memory none;
        TradeGuard.Trade[] memory trades;
        calls[4] =
            Call(address(guard), 0, abi.encodeCall(TradeGuard.liquidate, (payout, new address[](0), trades, none, 9)));
        calls[5] = Call(address(owners), 0, _settlementOf(5, address(tokens[0]), keep));
    }

    function _signedAssets(uint256 amount) private view returns (WithdrawalExecutor.Asset[] memory assets) {
        assets = new WithdrawalExecutor.Asset[](1);
        assets[0] = WithdrawalExecutor.Asset(address(tokens[1]), amount);
    }

    function _settlementOf(uint256 amount, address token, uint256 keep) private view returns (bytes memory) {
        WithdrawalExecutor.Authorization memory authorization;
        authorization.assets = _signedAssets(amount);
        return abi.encodeCall(WithdrawalExecutor.settle, (authorization, "", token, keep));
    }

    /// @dev The pair's rule once more: both name the same payout.
    function _isSettled(bytes memory liquidation, bytes memory settlement) private view returns (bool) {
        if (bytes4(liquidation) != TradeGuard.liquidate.selector) return false;
        if (bytes4(settlement) != WithdrawalExecutor.settle.selector) return false;
        (bytes32 first, bytes32 second) = this.payoutsOf(liquidation, settlement);
        return first == second;
    }

    function payoutsOf(bytes calldata liquidation, bytes calldata settlement) external pure returns (bytes32, bytes32) {
        SettlementRule.Payout memory payout = abi.decode(liquidation[4:], (SettlementRule.Payout));
        (WithdrawalExecutor.Authorization memory signed,, address token, uint256 keep) =
            abi.decode(settlement[4:], (WithdrawalExecutor.Authorization, bytes, address, uint256));
        SettlementRule.Payout memory paid = SettlementRule.Payout(signed.assets, token, keep);
        return (keccak256(abi.encode(payout)), keccak256(abi.encode(paid)));
    }

    function _forbidden(uint256 kind, address target, bytes calldata data) private view returns (Call memory) {
        if (kind == 0) return Call(address(tokens[0]), 0, abi.encodeCall(OddToken.transfer, (THIEF, 1)));
        if (kind == 1) return Call(address(tokens[0]), 0, abi.encodeCall(OddToken.approve, (THIEF, 1)));
        if (kind == 2) return Call(address(tokens[0]), 0, abi.encodeCall(OddToken.transferFrom, (THIEF, THIEF, 1)));
        if (kind == 3) return Call(address(tokens[0]), 1, abi.encodeCall(OddToken.approve, (address(guard), 1)));
        if (kind == 4) return Call(address(guard), 0, abi.encodeCall(GuardPolicy.onInstall, (data)));
        if (kind == 5) return Call(address(guard), 0, abi.encodeCall(GuardPolicy.onUninstall, (data)));
        if (kind == 6) return Call(address(guard), 1, abi.encodeWithSelector(TradeGuard.trade.selector));
        if (kind == 7) return Call(address(account), 0, data);
        if (kind == 8) return Call(address(router), 0, data);
        if (kind == 9) return Call(address(pool), 0, data);
        if (kind == 10) return Call(address(owners), 0, data);
        return Call(target, 0, data);
    }

    /// @dev The rules once more, written down independently.
    function _isPermitted(Call memory call) private view returns (bool) {
        if (call.value != 0 || call.data.length < 4) return false;
        if (call.target == address(account) && call.data.length < 68) return false;
        bytes4 selector = bytes4(call.data);
        if (call.target == address(guard)) {
            return selector == TradeGuard.trade.selector || selector == TradeGuard.send.selector
                || selector == LossBudget.tighten.selector || selector == TradeFees.setFees.selector;
        }
        if (call.target == address(owners)) return false;
        if (call.target == address(account)) {
            bytes memory data = call.data;
            bytes5 other = bytes5(abi.encodePacked(data[4], data[5], data[6], data[7], data[8]));
            return selector == bytes4(keccak256("uninstallValidation(bytes21,bytes,bytes)")) && call.data.length >= 68
                && other[0] == 0x02 && bytes4(other << 8) != PERMISSION;
        }
        bytes memory approval = abi.encodePacked(OddToken.approve.selector, uint256(uint160(address(guard))));
        if (call.data.length != 68) return false;
        for (uint256 i; i < approval.length; ++i) if (call.data[i] != approval[i]) return false;
        return true;
    }

    function _batch(Call[] memory calls) private pure returns (bytes memory) {
        return abi.encodeWithSelector(EXECUTE, BATCH, abi.encode(calls));
    }

    function _one(Call memory call) private pure returns (bytes memory) {
        return abi.encodeWithSelector(EXECUTE, ONE_CALL, abi.encodePacked(call.target, call.value, call.data));
    }

    function _operation(bytes memory callData) private view returns (PackedUserOperation memory operation) {
        operation.sender = address(account);
        operation.callData = callData;
    }

    function _ask(bytes memory callData) private returns (uint256) {
        return account.ask(guard, bytes32(PERMISSION), _operation(callData));
    }

    function _refuses(bytes memory callData, bytes4 failure) private {
        PackedUserOperation memory operation = _operation(callData);
        vm.expectPartialRevert(failure);
        account.ask(guard, bytes32(PERMISSION), operation);
    }
}
