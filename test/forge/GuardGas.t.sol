// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {PackedUserOperation} from "../../contracts/PackedUserOperation.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {Call} from "./TestAccount.sol";
import {OddToken} from "./OddTokens.sol";

/// @title What the guard itself costs; the checked-in snapshot is test/forge/gas.snapshot
/// @dev Each test makes one call after setUp, so that storage is as cold as in a transaction of its own.
contract GuardGasTest is GuardFixture {
    function test_gas_install() public {
        account.install(guard, _permission(0x55667788, START, START + 90 days, 0, 0));
    }

    function test_gas_policyOfOneApprovalAndOneTrade() public {
        Call[] memory calls = new Call[](2);
        calls[0] = Call(address(tokens[0]), 0, abi.encodeCall(OddToken.approve, (address(guard), 1)));
        calls[1] = Call(address(guard), 0, abi.encodeWithSelector(TradeGuard.trade.selector, new bytes(640)));
        PackedUserOperation memory operation;
        operation.callData = abi.encodeWithSelector(0xe9ae5c53, bytes32(uint256(1) << 248), abi.encode(calls));
        account.ask(guard, bytes32(PERMISSION), operation);
    }

    function test_gas_oneSwapBetweenTokensWithFeeds() public {
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[1]));
        TradeGuard.Evidence memory none;
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 9_970);
        vm.prank(address(account));
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }

    function test_gas_twoSwapsBetweenTokensWithFeeds() public {
        address[] memory listed = new address[](3);
        (listed[0], listed[1], listed[2]) = (address(tokens[0]), address(tokens[1]), address(tokens[2]));
        TradeGuard.Evidence memory none;
        TradeGuard.Trade[] memory trades = new TradeGuard.Trade[](2);
        trades[0] = _paying(0, 1, 1_000e6, 9_970)[0];
        trades[1] = _paying(0, 2, 1_000e6, 9_970)[0];
        vm.prank(address(account));
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }

    function test_gas_oneSwapIntoAnAttestedToken() public {
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[3]));
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        TradeGuard.Trade[] memory trades = _paying(0, 3, 1_000e6, 9_970);
        trades[0].buy = 1;
        vm.prank(address(account));
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp());
    }

    function test_gas_oneTransfer() public {
        address[] memory listed = new address[](1);
        listed[0] = address(tokens[0]);
        TradeGuard.Evidence memory none;
        TradeGuard.Transfer memory order =
            TradeGuard.Transfer(address(pool), 0, 1_000e6, 42_161, REMOTE, 999e18);
        vm.prank(address(account));
        guard.send(listed, order, none, vm.getBlockTimestamp());
    }

    function test_gas_oneBurn() public {
        address[] memory listed = new address[](1);
        listed[0] = address(tokens[0]);
        TradeGuard.Evidence memory none;
        TradeGuard.Transfer memory order =
            TradeGuard.Transfer(address(messenger), 0, 1_000e6, 42_161, REMOTE, 999e6);
        vm.prank(address(account));
        guard.send(listed, order, none, vm.getBlockTimestamp());
    }

    function test_gas_revocation() public {
        bytes memory signature = _signature(OWNER_KEY, guard.revocationDigest(address(account), uint40(START)));
        guard.revoke(address(account), vm.addr(OWNER_KEY), uint40(START), signature);
    }
}

/// @title What a fee costs, to a recipient who has some of the token already
contract GuardGasOfFeesTest is GuardFixture {
    address private constant INTEGRATOR = address(0x1267);

    function setUp() public override {
        super.setUp();
        account.install(guard, _permissionWith(0x55667788, START, 2, abi.encodePacked(INTEGRATOR, uint8(25))));
        tokens[1].mint(INTEGRATOR, 1);
    }

    function test_gas_oneSwapWithAFee() public {
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[1]));
        TradeGuard.Evidence memory none;
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 9_970);
        vm.prank(address(account));
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }
}
