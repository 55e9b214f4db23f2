//! `celandine create`: requests answered in this process, from a directory, without a server.
//!
//! Absent: what an answer is (storage), what a directory is (load).
use std::{io::Read as _, path::PathBuf};

use cel::Value;
use clap::ValueEnum;

use super::{
    CliError, load,
    local::{self, Ask, AskError, text},
    print,
};
use crate::{
    api::{UserInfo, user::AUTHENTICATED},
    storage::{
        create::{Created, Moment},
        encode, manifest,
        strategy::FieldValidation,
        workspace::{ROOT, Workspaces},
    },
};

const EXAMPLES: &str = "\
Examples:
  # Ask, and print the answer as YAML
  celandine create -f examples/requests/bucketinfo.yaml --dir examples

  # May jane ask? She needs to read the bucket and its objects herself
  celandine create -f examples/requests/bucketinfo.yaml --dir examples --as jane

  # From standard input, in another workspace, without effects
  cat request.yaml | celandine create -f - --dir examples --workspace team-b --dry-run=server";

/// The arguments of `celandine create`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File with the resources to create, several documents and lists included; `-` is standard input
    #[arg(short = 'f', long = "filename", required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Directory of schemas and objects
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// How to print the answers
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
    /// Evaluate without effects, and say so to expressions
    #[arg(long, value_enum, default_value_t = DryRun::None, num_args = 0..=1, default_missing_value = "server",
          require_equals = true)]
    dry_run: DryRun,
    /// Ask as this user instead of as an administrator
    #[arg(long = "as", value_name = "USER")]
    as_user: Option<String>,
    /// Ask as a member of this group; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "as_user")]
    as_group: Vec<String>,
    /// Workspace to ask in
    #[arg(long, default_value = ROOT)]
    workspace: String,
    /// Namespace of objects that name none
    #[arg(short, long)]
    namespace: Option<String>,
    /// What becomes of unknown and duplicate fields
    #[arg(long, value_enum, default_value_t = Validate::Strict, ignore_case = true)]
    validate: Validate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Yaml,
    Json,
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRun {
    None,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Validate {
    Strict,
    Warn,
    Ignore,
}

impl Args {
    fn user(&self) -> UserInfo {
        match &self.as_user {
            None => UserInfo::admin(),
            Some(name) => UserInfo {
                username: name.clone(),
                groups: self.as_group.iter().cloned().chain([AUTHENTICATED.to_owned()]).collect(),
                ..UserInfo::default()
            },
        }
    }

    fn field_validation(&self) -> FieldValidation {
        match self.validate {
            Validate::Strict => FieldValidation::Strict,
            Validate::Warn => FieldValidation::Warn,
            Validate::Ignore => FieldValidation::Ignore,
        }
    }
}

/// Creates everything in the files, goes on after failures, and fails if there was one.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let workspaces = load::workspaces(&args.dir)?;
    let runtime = load::runtime()?;
    let mut printed = 0;
    let mut failed = false;
    for file in &args.files {
        let (name, objects) = objects(file)?;
        for object in objects {
            match runtime.block_on(one(args, &workspaces, &object)) {
                Ok(created) => {
                    created.warnings.iter().for_each(|text| print::warning(text));
                    print::stdout(&shown(args.output, &object, &created, printed > 0)?);
                    printed += 1;
                }
                Err(problem) => {
                    print::error_line(&problem_text(&problem, &name));
                    failed = true;
                }
            }
        }
    }
    if failed { Err(CliError::Reported) } else { Ok(()) }
}

fn problem_text(problem: &Problem, file: &str) -> String {
    match problem {
        Problem::Ask(AskError::Status(status)) => print::status(status, file),
        Problem::Ask(AskError::Kind { .. }) => format!("error: resource mapping not found from {file:?}: {problem}"),
        Problem::Ask(AskError::Workspace(..)) | Problem::Namespace(..) | Problem::Unwritable(_) => {
            format!("error: {problem}")
        }
    }
}

/// Why one object was not answered.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(
        "the namespace from the provided object {0:?} does not match the namespace {1:?}. You must pass \
         '--namespace={0}' to perform this operation."
    )]
    Namespace(String, String),
    #[error(transparent)]
    Unwritable(#[from] encode::EncodeError),
}

/// Asks for one object: as JSON, into which kubectl turns what it reads.
async fn one(args: &Args, workspaces: &Workspaces, object: &Value) -> Result<Created, Problem> {
    let own = text(object, &["metadata", "namespace"]);
    let namespace = match &args.namespace {
        Some(wanted) if !own.is_empty() && own != wanted => {
            return Err(Problem::Namespace(own.into(), wanted.clone()));
        }
        Some(wanted) => wanted.as_str(),
        None if own.is_empty() => "default",
        None => own,
    };
    let body = encode::json(object)?;
    let ask = Ask {
        workspace: &args.workspace,
        namespace,
        api_version: text(object, &["apiVersion"]),
        kind: text(object, &["kind"]),
        body: &body,
        content_type: "application/json",
        field_validation: args.field_validation(),
        dry_run: args.dry_run == DryRun::Server,
        user: &args.user(),
        moment: Moment::now(),
    };
    Ok(local::ask(workspaces, &ask).await?)
}

/// The objects of a file; the items of a `List` one by one.
fn objects(file: &PathBuf) -> Result<(String, Vec<Value>), CliError> {
    let (name, text) = read(file)?;
    let manifest = manifest::parse(&name, text);
    if !manifest.errors.is_empty() {
        for error in &manifest.errors {
            print::error_line(&manifest::render_error(error, &manifest, load::colour()));
        }
        return Err(CliError::Reported);
    }
    let mut objects = Vec::new();
    for document in &manifest.documents {
        match &document.value {
            Value::Map(map) if super::local::text(&document.value, &["kind"]) == "List" => {
                if let Some(Value::List(items)) = map.get("items") {
                    objects.extend(items.as_slice().iter().cloned());
                }
            }
            Value::Null => {}
            _ => objects.push(document.value.clone()),
        }
    }
    if objects.is_empty() {
        return Err(CliError::Message(format!("no objects passed to create: {name} is empty")));
    }
    Ok((name, objects))
}

fn read(file: &PathBuf) -> Result<(String, String), CliError> {
    let fail = |error: std::io::Error| CliError::Message(format!("{}: {error}", file.display()));
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map_err(fail)?;
        return Ok(("STDIN".into(), text));
    }
    Ok((file.display().to_string(), std::fs::read_to_string(file).map_err(fail)?))
}

fn shown(output: Output, object: &Value, created: &Created, more: bool) -> Result<Vec<u8>, CliError> {
    let fail = |error: encode::EncodeError| CliError::Message(error.to_string());
    match output {
        Output::Name => {
            let (group, _) = text(object, &["apiVersion"]).split_once('/').unwrap_or_default();
            let kind = text(object, &["kind"]).to_lowercase();
            let name = text(&created.object, &["metadata", "name"]);
            let name = if name.is_empty() { "<unknown>" } else { name };
            let kind = if group.is_empty() { kind } else { format!("{kind}.{group}") };
            Ok(format!("{kind}/{name}\n").into_bytes())
        }
        Output::Json => encode::pretty_json(&created.object).map_err(fail),
        Output::Yaml => {
            let mut bytes = if more { b"---\n".to_vec() } else { Vec::new() };
            bytes.extend(encode::yaml(&created.object).map_err(fail)?);
            Ok(bytes)
        }
    }
}
