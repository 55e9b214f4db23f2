//! A step that may cost only so much at once: whatever is allowed, the same is asked for and the same comes out, at the same cost.
use super::*;

/// An evaluation of everything that there is: dependent sources, conditions, forEach, questions, messages, texts.
fn everything(object_valid: bool) -> Definition {
    let validation = |expression: &str| Validation {
        expression: expression.into(),
        message: Some("the plain message".into()),
        message_expression: Some("'made of ' + lists.range(40).map(i, string(i)).join('')".into()),
        reason: None,
        field_path: None,
    };
    let mut second = source("second", "${first.data.next + '-' + item}");
    second.for_each = vec![("item".into(), "${lists.range(5).map(i, 'item-' + string(i))}".into())];
    let mut third = list("third", "${object.spec.name}-${string(variables.sorted[0])}");
    third.include_when = vec!["${lists.range(30).exists(i, i == 29)}".into()];
    let status = [
        ("names", "${second.map(s, s.metadata.name).join(',')}"),
        ("size", "${string(third.orValue([]).size())} of ${string(variables.sorted.size())}"),
        ("may", "${variables.may}"),
        ("fails", "${object.spec.n > 99 ? variables.broken : 0}"),
    ];
    let mut definition = definition(vec![third, second, source("first", "${object.spec.name}")], &status);
    definition.variables = [
        ("sorted", "lists.range(20).map(i, 100 - i).sortBy(i, i)"),
        ("may", "lists.range(4).filter(i, authorizer.group('').resource('pods').name(string(i)).check('get').allowed()).size()"),
        ("broken", "1 / (object.spec.n - 3)"),
    ]
    .map(|(name, expression)| Variable { name: name.into(), expression: expression.into() })
    .to_vec();
    definition.validations = vec![
        validation("lists.range(25).all(i, i < 25)"),
        validation(if object_valid { "variables.sorted.size() == 20" } else { "variables.sorted.size() == 21" }),
        validation("second.size() == 5 && authorizer.requestResource.check('approve').allowed()"),
    ];
    definition
}

/// All that is asked for, then the outcome.
fn driven(definition: &Definition, allowed: u64) -> (Vec<String>, Outcome, usize) {
    let mut evaluation = start(definition);
    let (mut asked, mut interrupted) = (vec![], 0);
    let mut step: fn(&mut Evaluation) -> Step = Evaluation::begin;
    loop {
        evaluation.allow(allowed);
        let made = match step(&mut evaluation) {
            Step::Unfinished => {
                interrupted += 1;
                evaluation.allow(u64::MAX);
                step(&mut evaluation)
            }
            made => made,
        };
        match made {
            Step::Done(outcome) => {
                asked.sort();
                return (asked, outcome, interrupted);
            }
            Step::Need(needs) => {
                for (id, need) in needs {
                    let line = line(&need);
                    evaluation.supply(
                        id,
                        match &need {
                            Need::Decide(_) => {
                                let allowed = !line.ends_with('2');
                                Supply::Decision { allowed, reason: String::new(), error: String::new() }
                            }
                            Need::List { .. } => Supply::Objects(List::from(vec![Value::from("one")])),
                            Need::Get { name, .. } => object(name),
                            Need::Call(_) => panic!("{line}"),
                        },
                    );
                    asked.push(line);
                }
            }
            Step::Wait => step = Evaluation::next,
            Step::Unfinished => panic!("nothing was not allowed"),
        }
    }
}

#[test]
fn what_is_allowed_at_once_changes_nothing() {
    for object_valid in [true, false] {
        let definition = everything(object_valid);
        let (asked, outcome, none) = driven(&definition, u64::MAX);
        assert_eq!((none, outcome.result.is_ok()), (0, object_valid), "{outcome:?}");
        assert_eq!(asked.len(), if object_valid { 12 } else { 0 }, "{asked:?}");
        let mut interrupted = 0;
        for allowed in (0..=outcome.cost + 1).step_by(13) {
            let (asked_now, now, times) = driven(&definition, allowed);
            assert_eq!(asked_now, asked, "{allowed}");
            assert_eq!(format!("{now:?}"), format!("{outcome:?}"), "{allowed}");
            interrupted += times;
        }
        assert!(interrupted > 20, "{interrupted}");
    }
}

/// What is not allowed more never ends, and does nothing either.
#[test]
fn an_evaluation_that_is_allowed_nothing_does_not_get_on() {
    let mut evaluation = start(&everything(true));
    evaluation.allow(0);
    for _ in 0..3 {
        assert!(matches!(evaluation.next(), Step::Unfinished));
    }
    assert_eq!(evaluation.time_out().cost, 0);
}
