// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LossBudget} from "../../contracts/LossBudget.sol";
import {Cheats} from "./Cheats.sol";

/// @title The meters alone, charged by anybody
contract Meters is LossBudget {
    function charge(uint256 lost, uint256 turnover) external {
        _charge(msg.sender, lost, turnover);
    }

    function left() external view returns (uint256 lossLeft, uint256 turnoverLeft) {
        return _left(_accounts[msg.sender]);
    }

    function setBudget(uint16 budgetBps) external {
        _accounts[msg.sender].budgetBps = budgetBps;
        _accounts[msg.sender].chargedAt = uint40(block.timestamp);
    }
}

/// @title The meters of the guard against a model of their own
/// @notice The model keeps every charge with its time and rounds nothing: what is forgiven is a fraction whose
/// denominator is the period. The guard keeps one number, rounds what is forgiven down, and so may refuse a unit
/// sooner.
contract GuardDifferentialTest is Cheats {
    uint256 private constant PERIOD = 7 days;
    uint256 private constant WHOLE = 1e9;

    /// @dev A meter as a fraction over PERIOD.
    struct Exact {
        uint256 limit;
        uint256 used;
        uint256 since;
        uint256 charges;
    }

    Meters private meters;
    Exact private loss;
    Exact private turnover;

    function _begin(uint16 budgetBps) private {
        vm.warp(1_800_000_000);
        meters = new Meters();
        meters.setBudget(budgetBps);
        loss = Exact(uint256(budgetBps) * 1e5, 0, vm.getBlockTimestamp(), 0);
        turnover = Exact(_turnoverOf(budgetBps), 0, vm.getBlockTimestamp(), 0);
    }

    /// @dev A hundred times what may be lost, and at most the account four times.
    function _turnoverOf(uint256 budgetBps) private pure returns (uint256) {
        return budgetBps >= 400 ? 4 * WHOLE : budgetBps * 1e7;
    }

    function _forgive(Exact storage meter) private {
        uint256 forgiven = meter.limit * (vm.getBlockTimestamp() - meter.since);
        meter.used = meter.used > forgiven ? meter.used - forgiven : 0;
        meter.since = vm.getBlockTimestamp();
    }

    /// @dev What the guard may at most be behind the model: one unit for each charge, as it rounds at each.
    function _compare(Exact storage meter, uint256 reported, string memory what) private view {
        uint256 left = (meter.limit * PERIOD - meter.used) / PERIOD;
        assertLe(reported, left, what);
        assertLe(left, reported + meter.charges + 1, what);
    }

    function testFuzz_theMetersAreThoseOfAModelThatRoundsNothing(
        uint16 budgetSeed,
        uint256[12] calldata shares,
        uint256[12] calldata ofTurnover,
        uint256[12] calldata pauses
    ) external {
        _begin(uint16(_within(budgetSeed, 1, 1_000)));
        for (uint256 i; i < 12; ++i) {
            vm.warp(vm.getBlockTimestamp() + _within(pauses[i], 0, 3 days));
            _forgive(loss);
            _forgive(turnover);
            uint256 lost = _within(shares[i], 0, loss.limit);
            uint256 traded = _within(ofTurnover[i], 0, turnover.limit);
            bool isAllowed = loss.used + lost * PERIOD <= loss.limit * PERIOD
                && turnover.used + traded * PERIOD <= turnover.limit * PERIOD;
            try meters.charge(lost, traded) {
                assertTrue(isAllowed, "the guard let more pass than the model");
                loss.used += lost * PERIOD;
                turnover.used += traded * PERIOD;
                ++loss.charges;
                ++turnover.charges;
            } catch {
                (uint256 lossLeft, uint256 turnoverLeft) = meters.left();
                assertTrue(lost > lossLeft || traded > turnoverLeft, "the guard refused what it says is left");
            }
            (uint256 reported, uint256 reportedTurnover) = meters.left();
            _compare(loss, reported, "loss left");
            _compare(turnover, reportedTurnover, "turnover left");
        }
    }

    /// @dev The greediest plan: all that is left, whenever some has come back.
    function testFuzz_nobodyGetsMoreThanTheBudgetAndWhatComesBack(uint16 budgetSeed, uint256[12] calldata pauses)
        external
    {
        _begin(uint16(_within(budgetSeed, 1, 1_000)));
        uint256 began = vm.getBlockTimestamp();
        uint256 sum;
        for (uint256 i; i < 12; ++i) {
            vm.warp(vm.getBlockTimestamp() + _within(pauses[i], 0, 10 days));
            (uint256 lossLeft,) = meters.left();
            meters.charge(lossLeft, 0);
            sum += lossLeft;
            assertLe(sum, loss.limit + loss.limit * (vm.getBlockTimestamp() - began) / PERIOD, "more than the budget");
        }
    }
}
