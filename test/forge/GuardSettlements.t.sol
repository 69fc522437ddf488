// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {SettlementRule} from "../../contracts/SettlementRule.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {Execution, WithdrawalExecutor} from "../../contracts/WithdrawalExecutor.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {OddToken} from "./OddTokens.sol";
import {ExecutingAccount} from "./ExecutingAccount.sol";

/// @title What an agent may make of an owner's liquidating withdrawal, with the real executor and whole bundles
contract GuardSettlementsTest is GuardFixture {
    address private constant PAYEE = address(0xCAFE);
    bytes32 private constant NONCE = bytes32(uint256(7));
    uint256 private constant DOLLAR = 1e6;

    WithdrawalExecutor private executor;
    TradeGuard private strict;
    ExecutingAccount private seller;

    /// @dev An account with 50,000 dollars in ETH and as many in BTC, and no cash.
    function setUp() public override {
        super.setUp();
        executor = new WithdrawalExecutor();
        strict = new TradeGuard(ADMINISTRATOR, GUARDIAN, IAccountOwners(address(executor)));
        seller = new ExecutingAccount(executor, vm.addr(OWNER_KEY));
        for (uint256 i; i < 3; ++i) {
            _fill(_feeding(i, 1));
        }
        _fill(abi.encodeCall(RegistryChanges.registerVenue, (_calledWithData(address(route)))));
        _fill(abi.encodeCall(RegistryChanges.seal, ()));
        seller.install(strict, _permission(PERMISSION, START - 1, START + 90 days, 0, 0));
        tokens[1].mint(address(seller), 20e18);
        tokens[2].mint(address(seller), 1e8);
    }

    function _fill(bytes memory data) private {
        vm.prank(ADMINISTRATOR);
        (bool succeeded,) = address(strict).call(data);
        assertTrue(succeeded, "not filled");
    }

    function testFuzz_theSignedAmountIsSoldAndPaidAndNothingElse(uint256 cash, uint256 signed, uint256 sold) public {
        cash = _within(cash, 0, 20_000 * DOLLAR);
        signed = _within(signed, 0.01e18, 19e18);
        sold = _within(sold, 0, 20e18);
        if (sold < 0.001e18) sold = 0;
        tokens[0].mint(address(seller), cash);
        bool isAll = sold <= signed && sold + signed / 100 >= signed;
        Execution[] memory calls = _operation(1, signed, sold, cash);
        if (!isAll) vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        seller.handle(strict, PERMISSION, calls);
        if (!isAll) return;
        assertEq(tokens[0].balanceOf(PAYEE), _fair(1, 0, sold), "paid");
        assertEq(tokens[0].balanceOf(address(seller)), cash, "kept");
    }

    function testFuzz_whatIsKeptIsWhatWasThereLessWhatTheOwnerSigned(uint256 held, uint256 signed, uint256 keep)
        public
    {
        held = _within(held, 0, 25_000 * DOLLAR);
        signed = _within(signed, 0, held);
        keep = _within(keep, 0, 2 * held + 3 * DOLLAR);
        tokens[0].mint(address(seller), held);
        uint256 most = held - signed;
        bool isRight = keep <= most && keep + most / 100 + DOLLAR >= most && keep < held;
        Execution[] memory calls = _operation(0, signed, 0, keep);
        if (!isRight) {
            (bool succeeded,) = address(seller).call(abi.encodeCall(seller.handle, (strict, PERMISSION, calls)));
            assertTrue(!succeeded, "paid");
            assertTrue(!executor.isUsed(address(seller), NONCE), "the owner's word is used up");
            return;
        }
        seller.handle(strict, PERMISSION, calls);
        assertEq(tokens[0].balanceOf(PAYEE), held - keep, "paid");
    }

    function testFuzz_whatArrivesMeanwhileUpToAHundredthAndADollarRefusesNothing(uint256 held, uint256 more) public {
        held = _within(held, 0, 25_000 * DOLLAR);
        tokens[0].mint(address(seller), held);
        Execution[] memory calls = _operation(1, 1e18, 1e18, held);
        tokens[0].mint(address(seller), _within(more, 0, held / 100 + DOLLAR));
        seller.handle(strict, PERMISSION, calls);
    }

    /// @dev The owner signed 25 dollars of ETH.
    function test_moreThanWasSignedIsNotSoldForThePayee() public {
        Execution[] memory calls = _operation(1, 0.01e18, 20e18, 0);
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        seller.handle(strict, PERMISSION, calls);
    }

    function test_whatAnotherOperationOfTheBundleSellsIsNotPaid() public {
        Execution[][] memory operations = new Execution[][](2);
        operations[0] = new Execution[](2);
        operations[0][0] = Execution(address(tokens[1]), 0, abi.encodeCall(OddToken.approve, (address(strict), 19e18)));
        TradeGuard.Evidence memory none;
        bytes memory sale = abi.encodeCall(TradeGuard.trade, (_three(), _sale(1, 19e18), none, START + 600));
        operations[0][1] = Execution(address(strict), 0, sale);
        operations[1] = _operation(1, 0.01e18, 0.01e18, 0);
        vm.expectPartialRevert(SettlementRule.WrongKeep.selector);
        seller.handleAll(strict, PERMISSION, operations);
    }

    function test_otherTokensAreNotSoldBesideTheSignedOne() public {
        Execution[] memory calls = _operation(1, 1e18, 1e18, 0);
        TradeGuard.Trade[] memory both = new TradeGuard.Trade[](2);
        (both[0], both[1]) = (_sale(1, 1e18)[0], _sale(2, 1e7)[0]);
        calls[1].callData = _liquidation(_payout(1, 1e18, 0), both);
        calls[0] = Execution(address(tokens[2]), 0, abi.encodeCall(OddToken.approve, (address(strict), 1e7)));
        vm.prank(address(seller));
        tokens[1].approve(address(strict), 1e18);
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        seller.handle(strict, PERMISSION, calls);
    }

    function test_theSignedTokenIsSoldForThePaidOneAlone() public {
        Execution[] memory calls = _operation(1, 1e18, 1e18, 0);
        TradeGuard.Trade[] memory other = _sale(1, 1e18);
        other[0].buy = 2;
        other[0].route = abi.encodeWithSignature(
            "swap(address,address,uint256,uint256,address)",
            tokens[1],
            tokens[2],
            type(uint256).max,
            _fair(1, 2, 1e18),
            address(strict.RUNNER())
        );
        calls[1].callData = _liquidation(_payout(1, 1e18, 0), other);
        vm.expectPartialRevert(TradeGuard.NotForPayout.selector);
        seller.handle(strict, PERMISSION, calls);
    }

    function test_dustDoesNotUseTheOwnersWordUp() public {
        tokens[0].mint(address(seller), 1);
        Execution[] memory calls = _operation(1, 0.01e18, 0, 0);
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        seller.handle(strict, PERMISSION, calls);
        // Nor by a venue that gives back what it should sell.
        calls = _operation(1, 0.01e18, 0.01e18, 0);
        TradeGuard.Trade[] memory back = _sale(1, 0.01e18);
        back[0].route = abi.encodeWithSignature(
            "swap(address,address,uint256,uint256,address)", tokens[1], tokens[0], 1e12, 2_500, address(strict.RUNNER())
        );
        calls[1].callData = _liquidation(_payout(1, 0.01e18, 0), back);
        vm.expectPartialRevert(SettlementRule.NotAsSigned.selector);
        seller.handle(strict, PERMISSION, calls);
        assertTrue(!executor.isUsed(address(seller), NONCE), "the owner's word is used up");
    }

    function testFuzz_noOtherTokenIsPaidWhateverIsKept(uint256 token, uint256 keep) public {
        token = _within(token, 1, 2);
        SettlementRule.Payout memory payout = _payout(1, 5, keep);
        payout.token = address(tokens[token]);
        Execution[] memory calls = _pair(payout, new TradeGuard.Trade[](0));
        vm.expectPartialRevert(SettlementRule.NotForPayout.selector);
        seller.handle(strict, PERMISSION, calls);
    }

    function test_aTokenIsPaidNoMoreAtOnceWhenTheGuardianRemovesIt() public {
        vm.prank(GUARDIAN);
        _registry(strict).removeToken(address(tokens[0]));
        Execution[] memory calls = _operation(1, 1e18, 1e18, 0);
        vm.expectPartialRevert(ReferencePrices.TokenNotListed.selector);
        seller.handle(strict, PERMISSION, calls);
    }

    function testFuzz_whatIsNoSettlementAtAllIsRefused(bytes calldata noise) public {
        Execution[] memory calls = _operation(1, 1e18, 1e18, 0);
        calls[2].callData = bytes.concat(WithdrawalExecutor.settle.selector, noise);
        (bool succeeded,) = address(seller).call(abi.encodeCall(seller.handle, (strict, PERMISSION, calls)));
        assertTrue(!succeeded, "passed");
    }

    /// @dev The whole operation for one signed asset: allowance, sales, payment.
    function _operation(uint256 asset, uint256 signed, uint256 sold, uint256 keep)
        private
        view
        returns (Execution[] memory calls)
    {
        TradeGuard.Trade[] memory trades = sold == 0 ? new TradeGuard.Trade[](0) : _sale(asset, sold);
        Execution[] memory pair = _pair(_payout(asset, signed, keep), trades);
        calls = new Execution[](3);
        calls[0] = Execution(address(tokens[asset]), 0, abi.encodeCall(OddToken.approve, (address(strict), sold)));
        (calls[1], calls[2]) = (pair[0], pair[1]);
    }

    function _payout(uint256 asset, uint256 signed, uint256 keep)
        private
        view
        returns (SettlementRule.Payout memory)
    {
        WithdrawalExecutor.Asset[] memory assets = new WithdrawalExecutor.Asset[](1);
        assets[0] = WithdrawalExecutor.Asset(address(tokens[asset]), signed);
        return SettlementRule.Payout(assets, address(tokens[0]), keep);
    }

    function _pair(SettlementRule.Payout memory payout, TradeGuard.Trade[] memory trades)
        private
        view
        returns (Execution[] memory calls)
    {
        WithdrawalExecutor.Authorization memory authorization =
            WithdrawalExecutor.Authorization("pf_1", PAYEE, payout.assets, NONCE, START + 600);
        bytes memory signature = _signature(OWNER_KEY, executor.digestOf(address(seller), authorization, true));
        bytes memory settlement =
            abi.encodeCall(WithdrawalExecutor.settle, (authorization, signature, payout.token, payout.keep));
        calls = new Execution[](2);
        calls[0] = Execution(address(strict), 0, _liquidation(payout, trades));
        calls[1] = Execution(address(executor), 0, settlement);
    }

    function _liquidation(SettlementRule.Payout memory payout, TradeGuard.Trade[] memory trades)
        private
        view
        returns (bytes memory)
    {
        TradeGuard.Evidence memory none;
        return abi.encodeCall(TradeGuard.liquidate, (payout, _three(), trades, none, START + 600));
    }

    function _sale(uint256 sell, uint256 amount) private view returns (TradeGuard.Trade[] memory) {
        bytes memory data = abi.encodeWithSignature(
            "swap(address,address,uint256,uint256,address)",
            tokens[sell],
            tokens[0],
            type(uint256).max,
            _fair(sell, 0, amount),
            address(strict.RUNNER())
        );
        return _routed(sell, 0, amount, data);
    }

    function _three() private view returns (address[] memory listed) {
        listed = new address[](3);
        for (uint256 i; i < 3; ++i) listed[i] = address(tokens[i]);
    }
}
