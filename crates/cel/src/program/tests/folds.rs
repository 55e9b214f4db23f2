//! A loop gives, costs and fails as the fold that it stands for: folds whose accumulator has a plain name are not made loops.
//!
//! Absent: what single macros give (`tests`).
use std::{collections::HashMap, sync::Arc};

use super::super::Options;
use crate::{
    Ast, Env, EnvBuilder, Evaluation, Type, Value,
    ast::{Comprehension, Kind, NodeId},
    eval::Halt,
};

#[path = "../../../tests/common/typed.rs"]
mod typed;

/// Gives accumulators names that a text could contain, each its own.
fn plainly(mut ast: Ast) -> Ast {
    let mut renamed: HashMap<NodeId, Arc<str>> = HashMap::new();
    for i in 0..ast.nodes.len() {
        let Kind::Comprehension(fold) = &ast.nodes[i].kind else { continue };
        let Comprehension { accu_var, loop_condition, loop_step, result, .. } = &**fold;
        // A binding has the name that the text gives it.
        if &**accu_var != crate::macros::ACCUMULATOR {
            continue;
        }
        let name: Arc<str> = format!("accumulator{i}").into();
        let accu = accu_var.clone();
        let mut open = vec![*loop_condition, *loop_step, *result];
        while let Some(id) = open.pop() {
            match &ast.nodes[id.0 as usize].kind {
                Kind::Ident(known) if *known == accu => {
                    renamed.entry(id).or_insert(name.clone());
                }
                kind => kind.for_each_child(|child| open.push(child)),
            }
        }
        if let Kind::Comprehension(fold) = &mut ast.nodes[i].kind {
            fold.accu_var = name;
        }
        for (id, name) in renamed.drain() {
            ast.nodes[id.0 as usize].kind = Kind::Ident(name);
        }
    }
    ast
}

fn shown(evaluation: &Evaluation) -> String {
    match &evaluation.result {
        Ok(value) => format!("{value} ({})", evaluation.cost),
        Err(Halt::Error(error)) => format!("error: {} ({})", error.message, evaluation.cost),
        Err(halt) => format!("{halt:?} ({})", evaluation.cost),
    }
}

#[test]
fn loops_are_the_folds_that_they_stand_for() {
    let variables = [
        ("i", Type::Int, Value::Int(2)),
        ("s", Type::String, "text".into()),
        ("li", Type::list(Type::Int), vec![Value::Int(3), Value::Int(0), Value::Int(2)].into()),
        ("ls", Type::list(Type::String), vec!["a".into(), "bb".into()].into()),
        (
            "m",
            Type::map(Type::String, Type::Int),
            Value::Map([("a", Value::Int(1)), ("b", Value::Int(0))].into_iter().collect()),
        ),
    ];
    let env = crate::library::all().into_iter().fold(Env::builder(), EnvBuilder::library);
    let env = variables.iter().fold(env, |env, (name, ty, _)| env.variable(name, ty.clone())).build();
    let values: Vec<Option<Value>> = variables.iter().map(|(.., value)| Some(value.clone())).collect();
    let types: Vec<(&str, Type)> = variables.iter().map(|(name, ty, _)| (*name, ty.clone())).collect();
    let mut generator = typed::Generator::new(0x2545_f491_4f6c_dd1d, &types, vec![]);
    let (mut folds, mut errors) = (0, 0);
    for round in 0..6_000 {
        let ty = generator.any_type(2);
        let Some(text) = generator.expression(&ty, 2 + round % 4) else { continue };
        let Ok(ast) = env.parse(&text) else { continue };
        if !ast.nodes.iter().any(|node| matches!(node.kind, Kind::Comprehension(_))) {
            continue;
        }
        let plain = plainly(ast.clone());
        let plan = |ast| env.check(ast).and_then(|checked| env.program(&checked));
        let (Ok(looped), Ok(plain)) = (plan(ast), plan(plain)) else { continue };
        folds += 1;
        for budget in [1_000_000, 40] {
            let run =
                |program: &crate::Program| program.evaluate(&values[..], Options { budget, ..Options::default() });
            let (looped, plain) = (run(&looped), run(&plain));
            errors += usize::from(looped.result.is_err());
            // Where the budget ends, they may have gone on to different places; that it ends is the same.
            if budget == 40 {
                assert_eq!(looped.cost > 40, plain.cost > 40, "{text}");
            } else {
                assert_eq!(shown(&looped), shown(&plain), "{text}");
            }
        }
    }
    assert!(folds > 1_000 && errors > 100, "{folds} folds, {errors} errors");
}
