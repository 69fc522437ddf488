// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {Attacker} from "./Attacker.sol";
import {Cheats} from "./Cheats.sol";
import {OddToken} from "./OddTokens.sol";

/// @title What holds after any moves of a thief in any order
contract GuardInvariantsTest is Cheats {
    /// @dev As forge reads it.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    uint256 private constant BUDGET = 2e7;
    uint256 private constant WHOLE = 1e9;

    Attacker private attacker;

    function setUp() external {
        attacker = new Attacker();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(attacker);
    }

    /// @dev What ends a run is no move within it.
    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        excluded[0] = FuzzSelector(address(attacker), new bytes4[](1));
        excluded[0].selectors[0] = Attacker.recover.selector;
    }

    /// @dev One invariant, because forge plays a campaign of its own for each.
    function invariant_nothingIsLostBeyondTheBudgetNothingIsLeftBehindAndNobodyEnters() external view {
        _loses();
        _leavesNothing();
        assertTrue(!attacker.isEntered(), "a trade was made within another");
        assertTrue(!attacker.isOldPriceTaken(), "a trade was made at an old price");
    }

    /// @dev Counted by true prices and balances alone: the budget at once, and as much again for each week that passes.
    function _loses() private view {
        uint256 time = vm.getBlockTimestamp() - attacker.began();
        uint256 bound = BUDGET + BUDGET * time / 7 days;
        uint256 most = attacker.mostWorth();
        uint256 kept = bound >= WHOLE ? 0 : most * (WHOLE - bound) / WHOLE;
        // Each move may lose a raw unit to rounding, which is less than a cent.
        assertLe(kept, attacker.worth() + attacker.moves() * 1e6, "lost more than the budget");
    }

    function _leavesNothing() private view {
        TradeGuard guard = attacker.theGuard();
        address runner = address(guard.RUNNER());
        OddToken[4] memory tokens = attacker.theTokens();
        address[4] memory venues = attacker.theVenues();
        for (uint256 i; i < 4; ++i) {
            assertEq(tokens[i].balanceOf(address(guard)), 0, "the guard has tokens");
            assertEq(tokens[i].balanceOf(runner), 0, "the runner has tokens");
            for (uint256 j; j < 4; ++j) assertEq(tokens[i].allowance(runner, venues[j]), 0, "an allowance is left");
        }
    }

    /// @dev Whatever moves were made in whatever order: afterwards the account trades as ever, within its bound.
    function afterInvariant() external {
        assertTrue(attacker.recover(), "the account trades no more");
        _loses();
        _leavesNothing();
    }

    /// @dev So that what is above is not true of attacks that never happen. One run alone may be refused every move.
    function test_everyMoveIsMadeWhereNothingStandsInItsWay() external {
        for (uint256 move; move < 8; ++move) {
            attacker = new Attacker();
            if (move > 0) attacker.tighten(0, 0);
            _play(move);
            assertEq(attacker.made(), 1, "the move was refused");
            _loses();
            _leavesNothing();
        }
        attacker.tradeAtAnOldPrice(0, 0, 1, 1);
        assertEq(attacker.made(), 1, "a trade was made at an old price");
    }

    function _play(uint256 move) private {
        if (move == 0) attacker.tradeAtAnyPrice(0, 1, 9, 200);
        if (move == 1) attacker.tradeAtTheLimit(1, 2, 9);
        if (move == 2) attacker.tradeOverAPoolOfOnesOwn(0, 3, 9, 9_900);
        if (move == 3) attacker.deposit(9, 250);
        if (move == 4) attacker.burn(9, 250);
        if (move > 4) attacker.tradeAndStealInTheMiddle(2, 1, move, 1_000);
    }
}
