// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {TradeFees} from "../../contracts/TradeFees.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title Fees of trades: a share of what is bought, to whom the owner signed, and never more than that
contract GuardFeesTest is GuardFixture {
    address private constant INTEGRATOR = address(0x1267);
    address private constant SERVICE = address(0x5EC);

    function test_whereNothingIsSignedNothingIsTaken() public {
        _trade(_paying(0, 1, 1_000e6, 10_000));
        assertEq(tokens[1].balanceOf(address(account)), 10e18 + _fair(0, 1, 1_000e6), "bought");
        vm.prank(address(account));
        guard.setFees(0, 0);
        _refusedFees(1, 0);
        _refusedFees(0, 1);
    }

    function testFuzz_theFeeIsAShareOfWhatIsBought(uint256 amount, uint8 integrator, uint8 service) public {
        amount = _within(amount, 1e6, 1_000e6);
        integrator = uint8(_within(integrator, 1, 99));
        service = uint8(_within(service, 1, 100 - integrator));
        _install(START, integrator, service);
        uint256 bought = _fair(0, 1, amount);
        (,,, uint256 lossBefore,) = guard.policyOf(address(account));
        TradeGuard.Trade[] memory trades = _paying(0, 1, amount, 10_000);
        trades[0].minOut = uint128(bought - bought * integrator / 10_000 - bought * service / 10_000);
        _trade(trades);
        assertEq(tokens[1].balanceOf(INTEGRATOR), bought * integrator / 10_000, "the integrator's");
        assertEq(tokens[1].balanceOf(SERVICE), bought * service / 10_000, "the service's");
        assertEq(tokens[1].balanceOf(address(account)), 10e18 + trades[0].minOut, "the account's");
        assertEq(tokens[1].balanceOf(address(guard.RUNNER())), 0, "left behind");
        // The bands alone are charged: two basis points of what is sold, and what is rounded.
        (,,, uint256 lossAfter,) = guard.policyOf(address(account));
        assertLe(lossBefore - lossAfter, amount * 2e9 / (10_000 * 100_000e6) + 2, "the fee counts as lost");
        // What the account must get is less the fees.
        trades[0].minOut += 1;
        _refused(trades, TradeGuard.TooLittle.selector);
    }

    function test_aFeeIsNoCoverForALoss() public {
        _install(START, 100, 0);
        // What the market pays is held against the limit, whatever is left after the fee.
        _trade(_paying(0, 1, 1_000e6, 9_801));
        _refused(_paying(0, 1, 1_000e6, 9_799), TradeGuard.UnfairTrade.selector);
    }

    function testFuzz_theAgentSetsThemWithinWhatIsSigned(uint8 integrator, uint8 service) public {
        _install(START, 60, 40);
        if (integrator > 60 || service > 40) return _refusedFees(integrator, service);
        vm.prank(address(account));
        guard.setFees(integrator, service);
        _trade(_paying(0, 1, 1_000e6, 10_000));
        uint256 bought = _fair(0, 1, 1_000e6);
        assertEq(tokens[1].balanceOf(INTEGRATOR), bought * integrator / 10_000, "the integrator's");
        assertEq(tokens[1].balanceOf(SERVICE), bought * service / 10_000, "the service's");
        vm.prank(address(account));
        guard.setFees(60, 40);
    }

    function testFuzz_oneFeeAlone(bool isService, uint8 bps) public {
        bps = uint8(_within(bps, 1, 100));
        bytes memory fee = abi.encodePacked(isService ? SERVICE : INTEGRATOR, bps);
        account.install(guard, _permissionWith(PERMISSION, START, isService ? 4 : 2, fee));
        _trade(_paying(0, 1, 1_000e6, 10_000));
        uint256 bought = _fair(0, 1, 1_000e6);
        assertEq(tokens[1].balanceOf(isService ? SERVICE : INTEGRATOR), bought * bps / 10_000, "paid");
        assertEq(tokens[1].balanceOf(isService ? INTEGRATOR : SERVICE), 0, "paid to the other");
        if (isService) _refusedFees(1, 0);
        else _refusedFees(0, 1);
    }

    function test_whatIsSignedLaterTakesItsPlace() public {
        _install(START, 60, 40);
        account.install(guard, _permission(PERMISSION, START + 1, START + 90 days, 0, 0));
        _trade(_paying(0, 1, 1_000e6, 10_000));
        assertEq(tokens[1].balanceOf(INTEGRATOR) + tokens[1].balanceOf(SERVICE), 0, "taken");
        _refusedFees(1, 0);
    }

    function testFuzz_moreThanAHundredBasisPointsAreNotSigned(uint8 integrator, uint8 service) public {
        bytes memory fees = abi.encodePacked(INTEGRATOR, integrator, SERVICE, service);
        bytes memory data = _permissionWith(PERMISSION, START, 6, fees);
        bool isSane = integrator > 0 && service > 0 && uint256(integrator) + service <= 100;
        if (!isSane) vm.expectPartialRevert(TradeFees.FeeNotSigned.selector);
        account.install(guard, data);
    }

    function test_aFeeHasARecipient() public {
        bytes memory data = _permissionWith(PERMISSION, START, 2, abi.encodePacked(address(0), uint8(1)));
        vm.expectPartialRevert(TradeFees.FeeNotSigned.selector);
        account.install(guard, data);
    }

    /// @dev Everything that is signed has its one encoding: nothing is missing and nothing is behind it.
    function testFuzz_whatIsSignedIsReadWhole(uint8 signed, uint256 length) public {
        length = _within(length, 0, 200);
        uint256 wanted = (signed & 1) * 32 + (signed >> 1 & 1) * 21 + (signed >> 2 & 1) * 21;
        bytes memory rest = new bytes(length);
        for (uint256 i; i < length; ++i) rest[i] = 0x01;
        bool isWhole = signed & 8 == 0 ? length == wanted : length >= wanted && (length - wanted) % 40 == 0;
        bytes memory data = _permissionWith(PERMISSION, START, signed, rest);
        (bool succeeded,) = address(account).call(abi.encodeCall(account.install, (guard, data)));
        assertTrue(succeeded == (isWhole && signed < 16), succeeded ? "taken" : "refused");
    }

    /// @dev Who trades an account to and fro causes fees until its turnover is used up: twice the account at once, and
    /// twice again in seven days.
    function test_turnoverBoundsWhatAThiefPaysInFees() public {
        _install(START, 100, 0);
        uint256 worth = _worth();
        _churn();
        uint256 paid = _paid();
        assertLe(paid, worth * 2 / 100, "more than one percent of twice the account");
        assertLe(worth * 19 / 1_000, paid, "the attack took nothing worth a test");
        for (uint256 day; day < 7; ++day) {
            vm.warp(vm.getBlockTimestamp() + 1 days);
            _refreshFeeds();
            _churn();
        }
        assertLe(_paid(), worth * 4 / 100, "more than one percent of four times the account in seven days");
        // But for what is rounded in each of some hundred trades.
        assertLe(worth - 1e7, _paid() + _worth(), "somebody else was paid");
    }

    function _churn() private {
        for (uint256 share = 2; share < 512;) {
            try this.toAndFro(share) {} catch {
                share *= 2;
            }
        }
    }

    function toAndFro(uint256 share) external {
        uint256 amount = tokens[1].balanceOf(address(account)) / share;
        _trade(_paying(1, 2, amount, 10_000));
        _trade(_paying(2, 1, _fair(1, 2, amount) * 99 / 100, 10_000));
    }

    /// @dev In US dollars of 8 decimals.
    function _paid() private view returns (uint256 value) {
        for (uint256 i; i < 3; ++i) value += tokens[i].balanceOf(INTEGRATOR) * _price8(i) / units[i];
    }

    function _install(uint256 issuedAt, uint8 integrator, uint8 service) private {
        bytes memory fees = abi.encodePacked(INTEGRATOR, integrator);
        if (service > 0) fees = abi.encodePacked(fees, SERVICE, service);
        account.install(guard, _permissionWith(PERMISSION, issuedAt, service > 0 ? 6 : 2, fees));
    }

    function _refusedFees(uint8 integrator, uint8 service) private {
        vm.prank(address(account));
        vm.expectPartialRevert(TradeFees.FeeNotSigned.selector);
        guard.setFees(integrator, service);
    }
}
